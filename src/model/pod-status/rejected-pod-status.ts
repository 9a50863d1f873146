import type { Rejection } from '../admission/rejection.js';
import type { Pod, PodStatus } from '../pod.js';
import { toTimestamp } from '../timestamp.js';
import { qosClass } from './qos.js';

/**
 * All that is said of a pod that this node does not take in. `now` is in Unix milliseconds.
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
