import type { Finding, Invariant } from './monitor.js';
import { isRebirth } from './journal-truth.js';

/** The calls that create something. A created container is started, since no run is cancelled between the two. */
const MAKES: ReadonlySet<string> = new Set(['RunPodSandbox', 'CreateContainer']);

export const noStartAfterTermination: Invariant = {
  name: 'no-start-after-termination',
  rule: 'Once a pod has to stop, none of its containers is started until it has been forgotten.',
  source: 'pkg/kubelet/pod_workers.go UpdatePod, startPodSync, pkg/kubelet/kubelet.go syncLoop',
  watch: (truth) => {
    /** The pods that have to stop, with the reason; of this life. */
    let stopping = new Map<string, string>();
    /** The pods among them whose sync goes on: while the runtime is ill, no update reaches a worker. */
    let held = new Set<string>();
    let isIll = false;
    const stop = (uid: string, why: string): void => {
      stopping.set(uid, why);
      if (isIll) held.add(uid);
    };
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'agent-started') {
          stopping = new Map();
          held = new Set();
          isIll = false;
          return undefined;
        }
        if (event.kind === 'journal') {
          const { entry } = event;
          if (entry.kind === 'runtime-health') {
            isIll = !entry.healthy;
            if (!isIll) held.clear();
          }
          const uid = entry.pod?.uid;
          if (uid === undefined) return undefined;
          if (isRebirth(entry)) {
            const why = stopping.get(uid);
            stopping.delete(uid);
            held.delete(uid);
            const pod = truth.pods.get(uid);
            const goneAt = pod?.removalHandledAt ?? pod?.terminatingSince ?? Infinity;
            const hasComeBack = (pod?.addedAt ?? -1) >= goneAt;
            if (entry.kind === 'forgotten' || why === undefined || hasComeBack) return undefined;
            return [
              {
                uid,
                message: `is started again after ${why}, without having been added again (expected it to stay ended)`,
              },
            ];
          }
          if (entry.kind === 'config' && entry.op === 'DELETE') stop(uid, 'its deletion');
          else if (entry.kind === 'kill-requested') stop(uid, 'the request to stop it');
          else if (entry.kind === 'sync-started') {
            const why = stopping.get(uid);
            if (entry.work !== 'sync') stopping.set(uid, `it was ${entry.work}`);
            else if (why !== undefined) return [{ uid, message: `a sync began after ${why} (expected none)` }];
          }
          return undefined;
        }
        if (event.kind !== 'call' || !(MAKES.has(event.call) || event.call === 'StartContainer')) return undefined;
        const { uid = '', container, containerId } = truth.subject(event);
        const why = stopping.get(uid);
        if (why === undefined || held.has(uid)) return undefined;
        const created = truth.instances.get(containerId ?? '');
        const pass = truth.pods.get(uid)?.pass;
        if (event.call === 'StartContainer' && created && pass?.work === 'sync' && created.createdAt >= pass.since) {
          return undefined;
        }
        return [
          { uid, container, message: `${event.call} was called after ${why} (expected nothing to start any more)` },
        ];
      },
    };
  },
};
