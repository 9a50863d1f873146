import type { Pod, PodCondition, PodStatus } from '../pod/pod.js';
import { toTimestamp } from '../values/timestamp.js';
import { DISRUPTION_TARGET } from './conditions.js';

/**
 * Returns the status with the condition that the agent ends the pod for a reason of the node. The condition keeps its place, and its time if
 * it was true before. `now` is in Unix milliseconds.
 *
 * Source: pkg/api/v1/pod/util.go UpdatePodCondition
 */
export const withDisruptionTarget = (
  status: PodStatus,
  { metadata: { generation } }: Pod,
  { message, now }: { readonly message: string; readonly now: number },
): PodStatus => {
  const { conditions = [] } = status;
  const known = conditions.find(({ type }) => type === DISRUPTION_TARGET);
  const condition: PodCondition = {
    ...(generation !== undefined && { observedGeneration: generation }),
    type: DISRUPTION_TARGET,
    status: 'True',
    reason: 'TerminationByKubelet',
    message,
    lastTransitionTime: known?.status === 'True' ? known.lastTransitionTime : toTimestamp(now),
  };
  return {
    ...status,
    conditions: known ? conditions.map((one) => (one === known ? condition : one)) : [...conditions, condition],
  };
};
