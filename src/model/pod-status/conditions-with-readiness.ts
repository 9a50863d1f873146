import type { Pod, PodCondition, PodStatus } from '../pod/pod.js';
import { toTimestamp } from '../values/timestamp.js';
import { containersReadyCondition, type Finding, OWNED_CONDITIONS, readyCondition } from './conditions.js';
import type { PodPhase } from './pod-phase.js';

/**
 * Returns the conditions of a status with Ready and ContainersReady updated from its containers. `now` is in Unix
 * milliseconds.
 */
export const conditionsWithReadiness = (pod: Pod, status: PodStatus, now: number): readonly PodCondition[] => {
  const { conditions = [], initContainerStatuses = [], containerStatuses = [] } = status;
  const containersReady = containersReadyCondition(
    pod,
    [...initContainerStatuses, ...containerStatuses],
    status.phase as PodPhase,
  );
  const ready = readyCondition(
    pod,
    containersReady,
    conditions.filter(({ type }) => !OWNED_CONDITIONS.has(type)),
  );
  return conditions.map((condition) => {
    const finding = [ready, containersReady].find(({ type }) => type === condition.type);
    return finding ? changedTo(condition, finding, now) : condition;
  });
};

/** The time of a condition changes only with its status. */
const changedTo = (before: PodCondition, finding: Finding, now: number): PodCondition => ({
  ...finding,
  lastTransitionTime: finding.status === before.status ? before.lastTransitionTime : toTimestamp(now),
  ...(before.observedGeneration !== undefined && { observedGeneration: before.observedGeneration }),
});
