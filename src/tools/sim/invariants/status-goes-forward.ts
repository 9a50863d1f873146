import { isTerminal } from './pod-spec.js';
import type { Finding, Invariant } from './monitor.js';
import { isRebirth } from './journal-truth.js';
import { isRead } from './pod-truth.js';

interface Shown {
  phase?: string;
  reason?: string;
  startTime?: string;
  /** An earlier agent showed it, and the API has no end of the pod. */
  isUnwritten?: boolean;
  /** The runtime has lost what a container of it had done. */
  isForgotten?: boolean;
  readonly restarts: Map<string, number>;
}

export const statusGoesForward: Invariant = {
  name: 'status-goes-forward',
  rule: 'A pod that has ended stays ended, unless the API has no end of it and a later agent finds it past its deadline, or the runtime has forgotten that a container had run; while the agent knows a pod its restart counts never fall and its start time stays.',
  source: 'pkg/kubelet/status/status_manager.go updateStatusInternal, pkg/kubelet/kubelet_pods.go generateAPIPodStatus',
  watch: (truth) => {
    const pods = new Map<string, Shown>();
    return {
      on: (event) => {
        if (event.kind === 'agent-started') {
          for (const [uid, shown] of pods) {
            // Only the agent that ended a pod that way knows the reason; the next one determines it again. A deleted
            // pod may have nothing left for that; the API has its status.
            const wanted = truth.pods.get(uid)?.wanted;
            const isDeleted = wanted?.metadata.deletionTimestamp !== undefined;
            if (shown.reason !== undefined || isDeleted) pods.delete(uid);
            shown.isUnwritten = !isTerminal(wanted?.status?.phase);
            shown.startTime = undefined;
            shown.restarts.clear();
          }
          return undefined;
        }
        if (event.kind === 'container-start-lost' || event.kind === 'container-status-lost') {
          const shown = pods.get(event.uid);
          if (shown) shown.isForgotten = true;
          return undefined;
        }
        if (event.kind === 'journal') {
          const { entry } = event;
          // The status of a pod without a source is dropped, even while it stops.
          const isDropped = isRebirth(entry) || (entry.kind === 'config' && entry.op === 'REMOVE');
          if (isDropped && entry.pod) pods.delete(entry.pod.uid);
          return undefined;
        }
        if (event.kind !== 'status' || event.pod?.status === undefined) return undefined;
        const { uid } = event;
        const pod = truth.pods.get(uid);
        // Until then its status is that of its source.
        if (!pod || !isRead(pod)) return undefined;
        const { phase, reason, startTime, containerStatuses = [], initContainerStatuses = [] } = event.pod.status;
        const findings: Finding[] = [];
        const before: Shown = pods.get(uid) ?? { restarts: new Map() };
        // As upstream, an agent that knows of no end compares the time with the deadline before it asks how the containers ended.
        const isLate = before.isUnwritten === true && reason === 'DeadlineExceeded';
        // Nothing shows the next agent that it had ended.
        const isUnknown = before.isUnwritten === true && before.isForgotten === true;
        if (isTerminal(before.phase) && phase !== before.phase && pod.wanted && !isLate && !isUnknown) {
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
        pods.set(uid, Object.assign(before, { phase, reason, startTime, isUnwritten: false, isForgotten: false }));
        return findings;
      },
    };
  },
};
