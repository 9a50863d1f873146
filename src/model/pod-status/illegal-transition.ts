import { type ContainerStatus, isSidecar, type Pod, type PodStatus } from '../pod/pod.js';
import { hasRestartAllRule, restartable } from '../pod-actions/restart-policy.js';

/**
 * Returns the reason why a status cannot follow another one: a container that has ended for good does not run or wait
 * again. Undefined if it can.
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
      if (end === undefined || container === undefined || isSidecar(container)) return false;
      // The restart policy of the pod decides, with any policy of the container: a lost sandbox starts the container
      // again as well.
      if (end.exitCode !== 0 && restartPolicy === 'OnFailure') return false;
      return !restartable(pod, container, end);
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

/**
 * Returns a status without containers that have a restart policy of their own and run again: a new sandbox starts
 * containers again that the policy Never has ended, and the API accepts that. The kubelet drops every status of such a
 * pod until the container ends again.
 */
export const withoutRunAnew = (pod: Pod, from: PodStatus, to: PodStatus): PodStatus => {
  const runsAnew = ({ name, containerID }: ContainerStatus): boolean =>
    pod.spec.containers.some((container) => container.name === name && container.restartPolicy !== undefined) &&
    (to.containerStatuses ?? []).some(
      (now) => now.name === name && now.state?.running !== undefined && now.containerID !== containerID,
    );
  return { ...from, containerStatuses: from.containerStatuses?.filter((status) => !runsAnew(status)) };
};

/**
 * Returns the status with the former one of each init container that has ended for good and runs again as another instance: a new sandbox
 * runs all of them again, and the API accepts no other status of them. Everything else is new. The kubelet drops every status of such a pod
 * until the init container ends again.
 */
export const withFormerInits = (pod: Pod, from: PodStatus, to: PodStatus): PodStatus => {
  const formerOf = (status: ContainerStatus): ContainerStatus => {
    const former = from.initContainerStatuses?.find(({ name }) => name === status.name);
    if (!former || former.containerID === status.containerID) return status;
    const isLegal = illegalTransition(pod, { initContainerStatuses: [former] }, { initContainerStatuses: [status] });
    return isLegal === undefined ? status : former;
  };
  return { ...to, ...(to.initContainerStatuses && { initContainerStatuses: to.initContainerStatuses.map(formerOf) }) };
};

/** Whether the API's status of the pod can never become this status: the pod was started again under its UID. */
export const isOfFormerLife = (pod: Pod, inApi: PodStatus, own: PodStatus): boolean =>
  illegalTransition(pod, withoutRunAnew(pod, inApi, own), own) !== undefined;
