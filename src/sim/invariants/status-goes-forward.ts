import { isTerminal } from './pod-spec.js';
import type { Finding, Invariant } from './monitor.js';
import { isRebirth } from './world-truth.js';

interface Shown {
  phase?: string;
  reason?: string;
  startTime?: string;
  readonly restarts: Map<string, number>;
}

export const statusGoesForward: Invariant = {
  name: 'status-goes-forward',
  rule: 'A pod that has ended stays ended, and while the agent knows a pod its restart counts never fall and its start time stays.',
  source: 'pkg/kubelet/status/status_manager.go updateStatusInternal, pkg/kubelet/kubelet_pods.go generateAPIPodStatus',
  watch: (truth) => {
    const pods = new Map<string, Shown>();
    return {
      on: (event) => {
        if (event.kind === 'agent-started') {
          for (const [uid, shown] of pods) {
            // Why a pod has ended that way is known to its agent alone; the next one finds out anew.
            // Of a pod that is deleted nothing may be left to find out from; the API has its status.
            const isDeleted = truth.pods.get(uid)?.wanted?.metadata.deletionTimestamp !== undefined;
            if (shown.reason !== undefined || isDeleted) pods.delete(uid);
            shown.startTime = undefined;
            shown.restarts.clear();
          }
          return undefined;
        }
        if (event.kind === 'journal') {
          const { entry } = event;
          // The status of a pod that nobody wants is dropped, even while it stops.
          const isDropped = isRebirth(entry) || (entry.kind === 'config' && entry.op === 'REMOVE');
          if (isDropped && entry.pod) pods.delete(entry.pod.uid);
          return undefined;
        }
        // Before the first look at a pod its status is what its source says.
        if (event.kind !== 'status' || event.pod?.status?.startTime === undefined) return undefined;
        const { uid } = event;
        const { phase, reason, startTime, containerStatuses = [], initContainerStatuses = [] } = event.pod.status;
        const findings: Finding[] = [];
        const before: Shown = pods.get(uid) ?? { restarts: new Map() };
        if (isTerminal(before.phase) && phase !== before.phase && truth.pods.get(uid)?.wanted) {
          findings.push({ uid, message: `went from ${before.phase} to ${phase} (expected ${before.phase} for good)` });
        }
        if (before.startTime !== undefined && startTime !== before.startTime) {
          findings.push({
            uid,
            message: `its start time went from ${before.startTime} to ${startTime} (expected it to stay)`,
          });
        }
        for (const { name, restartCount } of [...containerStatuses, ...initContainerStatuses]) {
          const count = before.restarts.get(name) ?? 0;
          if (restartCount < count) {
            const message = `its restart count went from ${count} to ${restartCount} (expected it never to fall)`;
            findings.push({ uid, container: name, message });
          }
          before.restarts.set(name, restartCount);
        }
        pods.set(uid, Object.assign(before, { phase, reason, startTime }));
        return findings;
      },
    };
  },
};
