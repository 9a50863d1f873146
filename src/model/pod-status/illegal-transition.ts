import { type ContainerStatus, isSidecar, type Pod, type PodStatus } from '../pod.js';
import { hasRestartAllRule, restartable } from '../restart-policy.js';

/**
 * Why the pod cannot have come from one status to the other: a container that has ended for good does not run or wait again.
 * Undefined when it can.
 *
 * Source: pkg/kubelet/status/status_manager.go checkContainerStateTransition
 */
export const illegalTransition = (pod: Pod, from: PodStatus, to: PodStatus): string | undefined => {
  const { restartPolicy = 'Always', containers, initContainers = [] } = pod.spec;
  if (restartPolicy === 'Always' || [...initContainers, ...containers].some(hasRestartAllRule)) return undefined;
  const revived = (
    list: 'containerStatuses' | 'initContainerStatuses',
    specs: typeof containers,
  ): string | undefined => {
    const hasEnded = ({ name, state }: ContainerStatus): boolean => {
      const container = specs.find((spec) => spec.name === name);
      const end = state?.terminated;
      return end !== undefined && container !== undefined && !isSidecar(container) && !restartable(pod, container, end);
    };
    const ended = new Set((from[list] ?? []).filter(hasEnded).map(({ name }) => name));
    return to[list]?.find(({ name, state }) => ended.has(name) && !state?.terminated)?.name;
  };
  const regular = revived('containerStatuses', containers);
  if (regular !== undefined) {
    return `terminated container ${regular} attempted illegal transition to non-terminated state`;
  }
  const init = revived('initContainerStatuses', initContainers);
  return init === undefined
    ? undefined
    : `terminated init container ${init} attempted illegal transition to non-terminated state`;
};
