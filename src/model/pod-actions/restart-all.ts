import { type Container, type Pod, type PodStatus } from '../pod/pod.js';
import { matchingRule } from './restart-policy.js';
import { newestStatusOf, type RuntimePodStatus } from '../pleg/runtime-pod.js';
import { firstNamed } from '../values/indexed-lists.js';

/** The condition of a pod whose containers are all removed and started again. */
export const ALL_CONTAINERS_RESTARTING = 'AllContainersRestarting';

/**
 * Whether all containers restart: the last status has the condition, or the newest instance of a container has ended in a way that
 * one of its rules names. Older instances do not count: the agent itself may have ended them, and their ends were decided about
 * before the newer one started. `runtime` is absent where only the last status is known.
 *
 * Source: pkg/kubelet/container/helpers.go ShouldAllContainersRestart.
 */
export const isRestartingAll = (
  pod: Pod,
  runtime: RuntimePodStatus | undefined,
  told: PodStatus | undefined,
): boolean => {
  const { initContainerStatuses = [], containerStatuses = [] } = told ?? {};
  if (saysRestartAll(told)) return true;
  return resettable(pod).some((container) => {
    if (runtime) {
      const newest = newestStatusOf(runtime, container.name);
      if (newest?.state !== 'exited') return false;
      if (asksForAll(container, newest.exitCode)) return true;
    }
    const named = firstNamed(containerStatuses, container.name) ?? firstNamed(initContainerStatuses, container.name);
    const ended = named?.state?.terminated;
    return ended !== undefined && asksForAll(container, ended.exitCode);
  });
};

/** Whether its containers are removed now or with the next sync. */
export const saysRestartAll = (last: PodStatus | undefined): boolean =>
  last?.conditions?.some(({ type, status }) => type === ALL_CONTAINERS_RESTARTING && status === 'True') ?? false;

/** Whether the runtime has none of its containers any more. Source: pkg/kubelet/container/helpers.go AllContainersRestartCleanedUp. */
export const isResetDone = (pod: Pod, runtime: RuntimePodStatus): boolean =>
  resettable(pod).every(({ name }) => newestStatusOf(runtime, name) === undefined);

/** Whether its end with `exitCode` restarts all containers. */
export const asksForAll = (container: Container, exitCode: number): boolean =>
  matchingRule(container, exitCode)?.action === 'RestartAllContainers';

const resettable = ({ spec }: Pod): readonly Container[] => [...(spec.initContainers ?? []), ...spec.containers];
