import type { ContainerState } from '../../../model/pod/pod.js';
import type { Finding, Invariant } from './monitor.js';

/** The exit code of a container that the agent cannot find. */
const LOST = { reason: 'ContainerStatusUnknown', exitCode: 137 } as const;

export const endsAreTrue: Invariant = {
  name: 'ends-are-true',
  rule: 'A status shows no exit code that the runtime has not shown for that instance, except 137 as ContainerStatusUnknown.',
  source: 'pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses',
  watch: () => {
    /** The exit codes of each instance; a runtime that has lost one shows another after its boot. */
    const codes = new Map<string, Set<number>>();
    const isInvented = ({ terminated }: Partial<ContainerState> = {}): boolean => {
      const known = codes.get(terminated?.containerID?.replace(/^[^:]*:\/\//, '') ?? '');
      if (!terminated || !known || known.has(terminated.exitCode)) return false;
      return terminated.reason !== LOST.reason || terminated.exitCode !== LOST.exitCode;
    };
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'container-exited')
          codes.set(event.containerId, (codes.get(event.containerId) ?? new Set()).add(event.exitCode));
        if (event.kind !== 'status' || !event.pod?.status) return undefined;
        const { uid } = event;
        const { containerStatuses = [], initContainerStatuses = [] } = event.pod.status;
        return [...containerStatuses, ...initContainerStatuses]
          .flatMap(({ name, state, lastState }) => [state, lastState].filter(isInvented).map((of) => ({ name, of })))
          .map(({ name, of }) => ({
            uid,
            container: name,
            message: `shows exit code ${of?.terminated?.exitCode} (${of?.terminated?.reason}), which the runtime has never shown for this instance`,
          }));
      },
    };
  },
};
