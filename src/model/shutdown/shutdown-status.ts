import { withDisruptionTarget } from '../pod-status/disruption-target.js';
import type { Pod, PodStatus } from '../pod/pod.js';

const REASON = 'Terminated';
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';

/**
 * Changes the status of a pod that a shutdown of the node stops: it has failed, unless it has succeeded, and the
 * condition DisruptionTarget says why. `now` is in Unix milliseconds.
 *
 * Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go killPods
 */
export const shutdownStatus =
  (pod: Pod, now: number) =>
  (status: PodStatus): PodStatus => {
    const phase = status.phase === 'Succeeded' ? 'Succeeded' : 'Failed';
    return withDisruptionTarget({ ...status, phase, reason: REASON, message: MESSAGE }, pod, { message: MESSAGE, now });
  };
