import type { Rejection } from '../admission/rejection.js';
import type { Pod, PodStatus } from '../pod/pod.js';
import { toTimestamp } from '../values/timestamp.js';
import { qosClass } from './qos.js';

/**
 * Returns the status of a pod that this node rejects. `now` is in Unix milliseconds.
 *
 * Source: pkg/kubelet/kubelet.go rejectPod
 */
export const rejectedPodStatus = (
  pod: Pod,
  { reason, message }: Pick<Rejection, 'reason' | 'message'>,
  now: number,
): PodStatus => {
  const { generation } = pod.metadata;
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    phase: 'Failed',
    message: `Pod was rejected: ${message}`,
    reason,
    startTime: pod.status?.startTime ?? toTimestamp(now),
    qosClass: qosClass(pod),
  };
};
