import { type ContainerStatus, isSidecar, type Pod, type PodStatus } from '../pod/pod.js';
import { hasRestartAllRule, restartable } from '../pod-actions/restart-policy.js';
import { allNamed, firstNamed } from '../values/indexed-lists.js';

/**
 * Returns the reason why a status cannot follow another one: a container that has ended for good does not run or wait
 * again. Undefined if it can.
 *
 * Source: pkg/kubelet/status/status_manager.go checkContainerStateTransition
 */
export const illegalTransition = (pod: Pod, from: PodStatus, to: PodStatus): string | undefined =>
  mayRunAgain(pod) ? undefined : illegalWithoutRestarts(pod, from, to);

/** Whether a container of the pod that has ended may run again in any case. */
const mayRunAgain = ({ spec: { restartPolicy = 'Always', containers, initContainers = [] } }: Pod): boolean =>
  restartPolicy === 'Always' || [...initContainers, ...containers].some(hasRestartAllRule);

const illegalWithoutRestarts = (pod: Pod, from: PodStatus, to: PodStatus): string | undefined => {
  const { restartPolicy, containers, initContainers = [] } = pod.spec;
  const revived = (
    list: 'containerStatuses' | 'initContainerStatuses',
    specs: typeof containers,
  ): string | undefined => {
    const hasEnded = ({ name, state }: ContainerStatus): boolean => {
      const container = firstNamed(specs, name);
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
    allNamed(pod.spec.containers, name).some((container) => container.restartPolicy !== undefined) &&
    allNamed(to.containerStatuses ?? [], name).some(
      (now) => now.state?.running !== undefined && now.containerID !== containerID,
    );
  return { ...from, containerStatuses: from.containerStatuses?.filter((status) => !runsAnew(status)) };
};

/**
 * Returns the status with the former one of each container that has ended for good and is shown otherwise now, since the API accepts no
 * other: a new sandbox runs init containers again, and after a loss of power a runtime may show a container as never started. Everything else is
 * new, and so is a regular container that runs. The kubelet drops every status of such a pod until the container ends again.
 */
export const withFormerEnds = (pod: Pod, from: PodStatus, to: PodStatus): PodStatus => {
  const runsAgain = mayRunAgain(pod);
  const kept = (list: 'containerStatuses' | 'initContainerStatuses'): PodStatus => {
    const now = to[list];
    if (!now) return {};
    const formerOf = (status: ContainerStatus): ContainerStatus => {
      const former = firstNamed(from[list] ?? [], status.name);
      const isAnother = list === 'initContainerStatuses' && former?.containerID !== status.containerID;
      if (!former || (status.state?.running && !isAnother)) return status;
      if (runsAgain) return status;
      return illegalWithoutRestarts(pod, { [list]: [former] }, { [list]: [status] }) === undefined ? status : former;
    };
    return { [list]: now.map(formerOf) };
  };
  return { ...to, ...kept('initContainerStatuses'), ...kept('containerStatuses') };
};

/** Whether the API's status of the pod can never become this status: the pod was started again under its UID. */
export const isOfFormerLife = (pod: Pod, inApi: PodStatus, own: PodStatus): boolean =>
  illegalTransition(pod, withoutRunAnew(pod, inApi, own), own) !== undefined;
