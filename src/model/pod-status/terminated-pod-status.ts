import { type ContainerStatus, isStaticPod, isTerminalPhase, type Pod, type PodStatus } from '../pod.js';

/**
 * The last status of a pod that is gone from the node: no container is left as running or waiting if it may have run, and the
 * phase is terminal unless the pod is static.
 *
 * Source: pkg/kubelet/status/status_manager.go TerminatePod.
 */
export const terminatedPodStatus = (pod: Pod, status: PodStatus): PodStatus => {
  const init = status.initContainerStatuses ?? [];
  const lastTouched = init.findLastIndex(hasBeenTried);
  return {
    ...status,
    ...(isStaticPod(pod) || isTerminalPhase(status.phase) ? {} : { phase: 'Failed' }),
    ...(status.containerStatuses && {
      containerStatuses: isInitialized(pod, status) ? status.containerStatuses.map(ended) : status.containerStatuses,
    }),
    ...(status.initContainerStatuses && {
      initContainerStatuses: init.map((each, index) => (index <= Math.max(lastTouched, 0) ? ended(each) : each)),
    }),
  };
};

const hasBeenTried = ({ state, lastState }: ContainerStatus): boolean =>
  state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined;

const isInitialized = (pod: Pod, { containerStatuses = [], initContainerStatuses = [] }: PodStatus): boolean => {
  if (!pod.spec.initContainers?.length || containerStatuses.some(hasBeenTried)) return true;
  const last = initContainerStatuses.at(-1);
  return last?.state?.terminated?.exitCode === 0 || (last?.state?.running !== undefined && last.started === true);
};

const ended = (status: ContainerStatus): ContainerStatus =>
  status.state?.terminated
    ? status
    : {
        ...status,
        ready: false,
        state: {
          terminated: {
            reason: 'ContainerStatusUnknown',
            message: 'The container could not be located when the pod was terminated',
            exitCode: 137,
          },
        },
      };
