import type { RuntimeContainerStatus, RuntimePodStatus } from '../pleg/runtime-pod.js';

/** As a kubelet shows a container whose end it cannot find out. Source: pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses */
const UNKNOWN_END = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The machine was off before the runtime had stored that the container was started',
};

/** The containers that the runtime may not have started: the mark of a start of these counts. */
export const neverStarted = ({ containers }: RuntimePodStatus): readonly RuntimeContainerStatus[] =>
  containers.filter(({ state }) => state === 'created');

/** The ids of the boots in which the agent has begun to start a container. */
export interface BegunStarts {
  readonly containerId: string;
  readonly boots: readonly string[];
}

/**
 * Returns the runtime's view in which the created containers have ended whose start had begun in a former boot of the machine, by `begun`.
 * They may have run, and nothing knows how they ended. Upstream believes the runtime, and starts them again. Within one boot the runtime
 * forgets nothing: `bootId` is the present one.
 */
export const withLostStarts = (
  status: RuntimePodStatus,
  begun: readonly BegunStarts[],
  bootId: string,
): RuntimePodStatus => {
  const lost = new Set(
    begun.filter(({ boots }) => boots.some((boot) => boot !== bootId)).map(({ containerId }) => containerId),
  );
  return {
    ...status,
    containers: status.containers.map((instance) =>
      instance.state === 'created' && lost.has(instance.id)
        ? { ...instance, state: 'exited', ...UNKNOWN_END }
        : instance,
    ),
  };
};
