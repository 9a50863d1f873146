import { withDisruptionTarget } from '../pod-status/disruption-target.js';
import type { Pod, PodStatus } from '../pod/pod.js';

/** The reason of the event and of the status of a pod that is stopped to make room. Source: pkg/kubelet/events/event.go PreemptContainer */
export const PREEMPTING = 'Preempting';
/** The message of both. Source: pkg/kubelet/preemption/preemption.go */
export const PREEMPTED_MESSAGE = 'Preempted in order to admit critical pod';

/**
 * Changes the status of a pod that is stopped to make room for a critical one: it has failed for good. `now` is in Unix milliseconds.
 *
 * Source: pkg/kubelet/preemption/preemption.go evictPodsToFreeRequests
 */
export const preemptedStatus =
  (pod: Pod, now: number) =>
  (status: PodStatus): PodStatus =>
    withDisruptionTarget({ ...status, phase: 'Failed', reason: PREEMPTING, message: PREEMPTED_MESSAGE }, pod, {
      message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
      now,
    });
