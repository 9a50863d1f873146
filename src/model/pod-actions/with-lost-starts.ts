import type { RuntimePodStatus } from '../pleg/runtime-pod.js';

/** As a kubelet shows a container whose end it cannot find out. Source: pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses */
const UNKNOWN_END = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The machine was off before the runtime had stored that the container was started',
};

/**
 * Returns the runtime's view in which the created containers among `begunIds` have ended: their start had begun in a former boot of the
 * machine. They may have run, and nothing knows how they ended. Upstream believes the runtime, and starts them again.
 */
export const withLostStarts = (status: RuntimePodStatus, begunIds: ReadonlySet<string>): RuntimePodStatus => ({
  ...status,
  containers: status.containers.map((instance) =>
    instance.state === 'created' && begunIds.has(instance.id)
      ? { ...instance, state: 'exited', ...UNKNOWN_END }
      : instance,
  ),
});
