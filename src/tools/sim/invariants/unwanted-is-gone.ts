import type { Finding, Invariant } from './monitor.js';
import { isTerminal } from './pod-spec.js';
import { isLive, isReady } from './pod-truth.js';

/**
 * The time beside the grace period of the pod: until every call from before the quiet has ended or failed.
 * Milliseconds.
 */
const SETTLED_MS = 60_000;
/** Garbage is collected every minute; containers first, then sandboxes. */
const COLLECTED_MS = 90_000;

export const unwantedIsGone: Invariant = {
  name: 'unwanted-is-gone',
  rule: 'No container of a pod without a source, of a deleted or of an ended pod runs after the grace period; the agent forgets pods without a source, and collects their garbage.',
  source: 'pkg/kubelet/kubelet_pods.go HandlePodCleanups, pkg/kubelet/kuberuntime/kuberuntime_gc.go',
  watch: (truth) => {
    /** The pods that the present agent has worked on and not forgotten. */
    const known = new Set<string>();
    let farthestAheadMs = 0;
    return {
      on: (event) => {
        if (event.kind === 'clock-set' || event.kind === 'runtime-clock-set')
          farthestAheadMs = Math.max(farthestAheadMs, event.aheadMs);
        if (event.kind === 'agent-started') known.clear();
        if (event.kind !== 'journal' || !event.entry.pod) return undefined;
        if (event.entry.kind === 'sync-started') known.add(event.entry.pod.uid);
        if (event.entry.kind === 'forgotten') known.delete(event.entry.pod.uid);
        return undefined;
      },
      end: ({ at, quietSince }) => {
        const findings: Finding[] = [];
        for (const pod of truth.pods.values()) {
          const { uid, wanted, shown, phase } = pod;
          const isDeleted = wanted?.metadata.deletionTimestamp !== undefined;
          const hasEnded = isTerminal(shown?.pod.status?.phase) || isTerminal(phase) || pod.rejectedAt !== undefined;
          if (wanted && !isDeleted && !hasEnded) continue;
          const since = Math.max(quietSince, pod.specSince, hasEnded ? (pod.lastPassEndedAt ?? 0) : 0);
          const overdueMs = at - since - 2 * pod.longestGraceSeconds * 1000 - SETTLED_MS;
          if (overdueMs < 0) continue;
          const why = !wanted ? 'no source has the pod' : isDeleted ? 'the pod is deleted' : 'the pod has ended';
          for (const { container } of pod.instances.filter(isLive)) {
            findings.push({ uid, container, message: `still runs though ${why} (expected it to be stopped)` });
          }
          if (pod.sandboxes.some(isReady)) {
            findings.push({ uid, message: `still has a ready sandbox though ${why} (expected it to be stopped)` });
          }
          if (isDeleted && !isTerminal(shown?.pod.status?.phase) && pod.rejectedAt === undefined) {
            const message = `is deleted and shows as ${shown?.pod.status?.phase} (expected Succeeded or Failed)`;
            findings.push({ uid, message });
          }
          if (wanted) continue;
          if (known.has(uid)) findings.push({ uid, message: 'is still known to the agent though no source has it' });
          // A container that is too young by a clock that was set back is left alone.
          if (overdueMs < COLLECTED_MS || truth.wall(at) - at < farthestAheadMs) continue;
          const left = pod.instances.filter(({ removedAt }) => removedAt === undefined).length;
          const sandboxes = pod.sandboxes.filter(({ removedAt }) => removedAt === undefined).length;
          if (left + sandboxes === 0) continue;
          const message = `has left ${left} containers and ${sandboxes} sandboxes (expected them to be collected)`;
          findings.push({ uid, message });
        }
        return findings;
      },
    };
  },
};
