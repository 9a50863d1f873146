import { type ContainerStatus, isSidecar, isStaticPod, isTerminalPhase, type Pod, type PodStatus } from '../pod/pod.js';

/** The exit code 137 is a shell's code for SIGKILL. Source: pkg/kubelet/kubelet_pods.go */
const LOST = {
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
  exitCode: 137,
} as const;

/**
 * Returns the final status of a pod: containers whose end was not seen count as terminated, and an ordinary pod that
 * did not end by itself has failed. A static pod keeps its phase, since it may be started again.
 *
 * Source: pkg/kubelet/status/status_manager.go TerminatePod
 */
export const terminatedPodStatus = (pod: Pod, status: PodStatus): PodStatus => {
  const init = status.initContainerStatuses ?? [];
  const regular = status.containerStatuses ?? [];
  const lastStarted = Math.max(init.findLastIndex(hasStarted), 0);
  const phase = isStaticPod(pod) || isTerminalPhase(status.phase) ? status.phase : 'Failed';
  return {
    ...status,
    phase,
    ...(init.length > 0 && {
      initContainerStatuses: init.map((container, index) => (index <= lastStarted ? ended(container) : container)),
    }),
    ...(status.containerStatuses && {
      containerStatuses: hasInitialized(pod, init, regular) ? regular.map(ended) : regular,
    }),
  };
};

const hasInitialized = (pod: Pod, init: readonly ContainerStatus[], regular: readonly ContainerStatus[]): boolean => {
  const last = pod.spec.initContainers?.at(-1);
  if (!last || regular.some(hasStarted)) return true;
  const status = init.find(({ name }) => name === last.name);
  if (isSidecar(last)) return status?.state?.running !== undefined && status.started === true;
  return [status?.lastState, status?.state].some((state) => state?.terminated?.exitCode === 0);
};

const hasStarted = ({ state, lastState }: ContainerStatus): boolean =>
  lastState?.terminated !== undefined || state?.running !== undefined || state?.terminated !== undefined;

const ended = (status: ContainerStatus): ContainerStatus =>
  status.state?.terminated ? status : { ...status, state: { terminated: LOST }, ready: false, started: false };
