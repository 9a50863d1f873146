import type { Invariant } from './monitor.js';

/** The time by which the registration and the first status are written. */
const REGISTERED_MS = 60_000;

interface Node {
  readonly status?: { readonly nodeInfo?: { readonly bootID?: string } };
}

export const bootIsKnown: Invariant = {
  name: 'boot-is-known',
  rule: 'In quiet times the Node names the present boot of the machine.',
  source: 'pkg/kubelet/kubelet_node_status.go, pkg/kubelet/nodestatus/setters.go MachineInfo',
  watch: (truth) => {
    let bootId: string | undefined;
    return {
      on: (event) => {
        if (event.kind === 'booted') ({ bootId } = event);
        return undefined;
      },
      end: ({ at, quietSince }) => {
        if (bootId === undefined || !truth.hasApi || truth.life === undefined) return [];
        if (Math.max(quietSince, truth.lifeSince) + REGISTERED_MS >= at) return [];
        const node = [...truth.apiObjects].find(([key]) => key.startsWith('nodes/'))?.[1] as Node | undefined;
        const shown = node?.status?.nodeInfo?.bootID;
        return shown === bootId ? [] : [{ message: `the node names boot ${shown} (expected ${bootId})` }];
      },
    };
  },
};
