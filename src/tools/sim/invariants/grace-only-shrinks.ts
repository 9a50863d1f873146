import type { Finding, Invariant } from './monitor.js';
import { isRebirth } from './journal-truth.js';

/** The seconds that every container gets, for any requested grace period. */
const MINIMUM = 2;

export const graceOnlyShrinks: Invariant = {
  name: 'grace-only-shrinks',
  rule: 'A stopping pod never gets a longer grace period than before, no instance gets a longer one than its pod has, and none a shorter one than 2 s.',
  source:
    'pkg/kubelet/pod_workers.go calculateEffectiveGracePeriod, pkg/kubelet/kuberuntime/kuberuntime_container.go killContainer',
  watch: (truth) => {
    /** The grace period of a pod in this life, since it has to stop. */
    let granted = new Map<string, number>();
    /**
     * The grace period of an instance in the last run that terminates its pod. The next run begins with the full grace
     * period of its pod.
     */
    const asked = new Map<string, { readonly pass: string; readonly seconds: number }>();
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'agent-started') {
          granted = new Map();
          asked.clear();
          return undefined;
        }
        if (event.kind === 'journal') {
          const { entry } = event;
          const uid = entry.pod?.uid;
          if (uid === undefined) return undefined;
          if (isRebirth(entry)) granted.delete(uid);
          // The deletion that the agent has received, which may be older than the API's newest.
          if (entry.kind === 'config' && entry.op === 'DELETE' && entry.graceSeconds !== undefined) {
            granted.set(uid, Math.min(granted.get(uid) ?? Infinity, Math.max(1, entry.graceSeconds)));
          }
          if (entry.kind !== 'sync-started' || entry.work !== 'terminating' || entry.graceSeconds === undefined) {
            return undefined;
          }
          const before = granted.get(uid);
          granted.set(uid, entry.graceSeconds);
          if (before === undefined || entry.graceSeconds <= before) return undefined;
          return [
            { uid, message: `grace went from ${before} s to ${entry.graceSeconds} s (expected it never to grow)` },
          ];
        }
        if (event.kind !== 'call' || event.call !== 'StopContainer') return undefined;
        const { uid, container, containerId = '', graceSeconds = 0 } = truth.subject(event);
        const pod = truth.pods.get(uid ?? '');
        if (!pod) return undefined;
        const about = { uid, container };
        if (graceSeconds < MINIMUM) {
          return [{ ...about, message: `StopContainer with ${graceSeconds} s (expected at least ${MINIMUM} s)` }];
        }
        const pass = pod.pass;
        if (pass?.work === 'terminating') {
          if (pass.graceSeconds !== undefined && graceSeconds > Math.max(pass.graceSeconds, MINIMUM)) {
            const message = `StopContainer with ${graceSeconds} s, but the pod has ${pass.graceSeconds} s (expected no more)`;
            return [{ ...about, message }];
          }
          const before = asked.get(containerId);
          asked.set(containerId, { pass: pass.id, seconds: graceSeconds });
          if (before?.pass === pass.id && graceSeconds > before.seconds) {
            const message = `StopContainer with ${graceSeconds} s after one with ${before.seconds} s (expected it never to grow)`;
            return [{ ...about, message }];
          }
        }
        const most = Math.max(pod.longestGraceSeconds, MINIMUM);
        if (pod.manifest && graceSeconds > most) {
          const message = `StopContainer with ${graceSeconds} s, but nothing in the pod asks for more than ${most} s`;
          return [{ ...about, message }];
        }
        return undefined;
      },
    };
  },
};
