import { DISRUPTION_TARGET } from '../pod-status/conditions.js';
import type { Pod, PodCondition, PodStatus } from '../pod/pod.js';
import { toTimestamp } from '../values/timestamp.js';

const REASON = 'Terminated';
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';

/**
 * Changes the status of a pod that a shutdown of the node stops: it has failed, unless it has succeeded, and the
 * condition DisruptionTarget says why. `now` is in Unix milliseconds. The condition keeps its time if it was true before.
 *
 * Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go killPods, pkg/api/v1/pod/util.go UpdatePodCondition
 */
export const shutdownStatus =
  ({ metadata: { generation } }: Pod, now: number) =>
  (status: PodStatus): PodStatus => {
    const { conditions = [] } = status;
    const known = conditions.find(({ type }) => type === DISRUPTION_TARGET);
    const condition: PodCondition = {
      ...(generation !== undefined && { observedGeneration: generation }),
      type: DISRUPTION_TARGET,
      status: 'True',
      reason: 'TerminationByKubelet',
      message: MESSAGE,
      lastTransitionTime: known?.status === 'True' ? known.lastTransitionTime : toTimestamp(now),
    };
    return {
      ...status,
      phase: status.phase === 'Succeeded' ? 'Succeeded' : 'Failed',
      reason: REASON,
      message: MESSAGE,
      conditions: known ? conditions.map((one) => (one === known ? condition : one)) : [...conditions, condition],
    };
  };
