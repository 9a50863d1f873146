import { withDisruptionTarget } from '../pod-status/disruption-target.js';
import type { Pod, PodStatus } from '../pod/pod.js';

/** The reason of the event and of the status of an evicted pod. Source: pkg/kubelet/eviction/helpers.go Reason */
export const EVICTED = 'Evicted';

export interface EvictedPod {
  readonly message: string;
  /** The shortage of the node is the reason, not a limit of the pod itself. */
  readonly isDisrupted: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Changes the status of a pod that is evicted: it has failed, and if the node is the reason, the condition DisruptionTarget says so.
 *
 * Source: pkg/kubelet/eviction/eviction_manager.go evictPod
 */
export const evictedStatus =
  (pod: Pod, { message, isDisrupted, now }: EvictedPod) =>
  (status: PodStatus): PodStatus => {
    const failed: PodStatus = { ...status, phase: 'Failed', reason: EVICTED, message };
    return isDisrupted ? withDisruptionTarget(failed, pod, { message, now }) : failed;
  };
