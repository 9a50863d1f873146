import { containersOf, type Pod } from './pod.js';
import { hasRestartAllRule, matchingRestartAction } from './restart-policy.js';
import type { RuntimePodStatus } from './runtime-pod.js';

/**
 * A container has ended in a way for which one of its rules asks to restart all. Since an instance that asks is removed last,
 * this stays true until the restart has been done, even across a restart of the agent.
 *
 * Source: pkg/api/v1/pod/util.go ShouldAllContainersRestart.
 */
export const isRestartingAll = (pod: Pod, status: RuntimePodStatus): boolean => {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  const withRule = containersOf(pod).filter(
    ({ kind, container }) => kind !== 'ephemeral' && hasRestartAllRule(container),
  );
  return withRule.some(({ container }) =>
    status.containers.some(
      ({ name, state, exitCode }) =>
        name === container.name &&
        state === 'exited' &&
        matchingRestartAction(container, exitCode) === 'RestartAllContainers',
    ),
  );
};
