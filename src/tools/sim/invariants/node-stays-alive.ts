import type { Finding, Invariant } from './monitor.js';

/** The duration of a lease, 40 s; after that the control plane treats the node as dead. */
const LEASE_MS = 40_000;
/** The time by which the registration, the first lease and the first status are written. */
const REGISTERED_MS = 60_000;

interface Lease {
  readonly spec?: { readonly renewTime?: string };
}
interface Node {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export const nodeStaysAlive: Invariant = {
  name: 'node-stays-alive',
  rule: 'In quiet times the node is registered and Ready, and its lease is renewed before it expires.',
  source: 'pkg/kubelet/kubelet_node_status.go, staging/src/k8s.io/component-helpers/apimachinery/lease/controller.go',
  watch: (truth) => {
    const renewedAt: number[] = [];
    return {
      on: (event) => {
        if (event.kind === 'api-changed' && event.resource === 'leases' && event.type !== 'DELETED')
          renewedAt.push(event.at);
        return undefined;
      },
      end: ({ at, quietSince }) => {
        const since = Math.max(quietSince, truth.lifeSince) + REGISTERED_MS;
        if (!truth.hasApi || truth.life === undefined || since >= at) return [];
        const findings: Finding[] = [];
        const times = [...renewedAt.filter((time) => time >= since - LEASE_MS), at];
        const gaps = times.map((time, index) => time - (times[index - 1] ?? since - LEASE_MS));
        if (Math.max(...gaps) > LEASE_MS)
          findings.push({
            message: `the lease was not renewed for ${Math.max(...gaps) / 1000} s (expected 40 s at most)`,
          });
        const node = [...truth.apiObjects].find(([key]) => key.startsWith('nodes/'))?.[1] as Node | undefined;
        const lease = [...truth.apiObjects].find(([key]) => key.startsWith('leases/'))?.[1] as Lease | undefined;
        if (!node) findings.push({ message: 'the node is not registered' });
        const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
        if (node && ready !== 'True')
          findings.push({ message: `the node is Ready ${ready} in the API (expected True)` });
        if (!lease?.spec?.renewTime) findings.push({ message: 'the node has no lease' });
        return findings;
      },
    };
  },
};
