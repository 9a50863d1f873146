import type { Finding, Invariant } from './monitor.js';

/** Jitter is at most half of a delay. */
const JITTER = 1.5;
const ERROR_MS = 10_000;
/** The longest delay of a worker after its due time: the next tick, and other work of the loop. Milliseconds. */
const SLACK_MS = 5_000;

export const promisesAreKept: Invariant = {
  name: 'promises-are-kept',
  rule: 'A worker states the time of its next run, within the range of the table of delays, and then it begins.',
  source: 'pkg/kubelet/pod_workers.go completeWork, docs/timing.md',
  watch: (truth, { syncFrequencyMs }) => {
    /** Pods whose next run has to begin at this instant, by the end of their last one. */
    const atOnce = new Map<string, number>();
    const broken = (at: number): readonly Finding[] | undefined => {
      if (atOnce.size === 0) return undefined;
      const late = [...atOnce].filter(([, since]) => since < at);
      for (const [uid] of late) atOnce.delete(uid);
      return late.map(([uid]) => ({
        uid,
        message: 'stated that it goes on at once, and did not (expected the next run)',
      }));
    };
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'agent-started' || event.kind === 'agent-killed' || event.kind === 'agent-stopped')
          atOnce.clear();
        const late = broken(event.at);
        if (late && late.length > 0) return late;
        if (event.kind === 'journal' && event.entry.kind === 'sync-started') atOnce.delete(event.entry.pod?.uid ?? '');
        if (event.kind !== 'journal' || event.entry.kind !== 'sync-ended') return undefined;
        const { next, pod, at } = event.entry;
        if (next.kind === 'now' && pod) atOnce.set(pod.uid, event.at);
        if (next.kind !== 'resync' && next.kind !== 'retry') return undefined;
        const delayMs = next.dueAt - at;
        const waitsForBackOff = next.kind === 'retry' && /back-off .* restarting failed container/.test(next.reason);
        const waitsForNetwork = next.kind === 'retry' && next.reason.includes('network is not ready');
        const [least, most] =
          next.kind === 'resync'
            ? [syncFrequencyMs, syncFrequencyMs * JITTER]
            : waitsForBackOff
              ? [0, syncFrequencyMs * JITTER]
              : waitsForNetwork
                ? [1_000, 1_000 * JITTER]
                : [ERROR_MS, ERROR_MS * JITTER];
        if (delayMs >= least - 1 && delayMs <= most + 1) return undefined;
        const message = `${next.kind} is due after ${delayMs} ms (expected ${least} to ${most} ms)`;
        return [{ uid: pod?.uid, message }];
      },
      end: ({ at, quietSince }) => {
        if (truth.life === undefined) return [];
        const findings: Finding[] = [];
        for (const { uid, wanted, pass, lastPass, rejectedAt } of truth.pods.values()) {
          if (!wanted || pass || !lastPass || rejectedAt !== undefined) continue;
          const { next, at: said } = lastPass.ended;
          if (next.kind !== 'resync' && next.kind !== 'retry') continue;
          const dueAt = Math.max(lastPass.endedAt + (next.dueAt - said), quietSince + SLACK_MS);
          if (at - dueAt <= SLACK_MS) continue;
          const message = `a ${next.kind} was due ${at - dueAt} ms ago and did not come (expected it to begin)`;
          findings.push({ uid, message });
        }
        return findings;
      },
    };
  },
};
