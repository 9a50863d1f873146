import type { Pod } from '../pod/pod.js';
import { toTimestamp } from '../values/timestamp.js';

/**
 * Returns the pod for display: its `startTime` is at most `knownAt` (Unix milliseconds), a time at which the pod is
 * known to have existed. Decisions and reports use the time of the status, as a kubelet does; for a static pod without
 * an API server it begins with the agent.
 */
export const startedBy = (pod: Pod, knownAt: number | undefined): Pod => {
  const { status } = pod;
  if (knownAt === undefined || status?.startTime === undefined) return pod;
  return Date.parse(status.startTime) <= knownAt
    ? pod
    : { ...pod, status: { ...status, startTime: toTimestamp(knownAt) } };
};
