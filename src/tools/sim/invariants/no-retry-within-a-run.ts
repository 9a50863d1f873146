import type { Invariant } from './monitor.js';

/** Calls that a run needs once per target, and that only runs make. */
const ONCE: ReadonlySet<string> = new Set(['RunPodSandbox', 'CreateContainer', 'StartContainer', 'StopContainer']);

export const noRetryWithinARun: Invariant = {
  name: 'no-retry-within-a-run',
  rule: 'A run of a worker makes each call at most once: a failed call is repeated by the next run, which works on newer facts.',
  source: 'pkg/kubelet/pod_workers.go completeWork',
  watch: (truth) => {
    /** The calls of the current run of a pod. */
    const asked = new Map<string, { readonly pass: string; readonly what: Set<string> }>();
    return {
      on: (event) => {
        if (event.kind !== 'call' || !ONCE.has(event.call)) return undefined;
        const { uid = '', container, containerId } = truth.subject(event);
        const pass = truth.pods.get(uid)?.pass;
        if (!pass) return undefined;
        let ofPass = asked.get(uid);
        if (ofPass?.pass !== pass.id) asked.set(uid, (ofPass = { pass: pass.id, what: new Set() }));
        const what = `${event.call} ${containerId ?? container ?? ''}`;
        if (ofPass.what.has(what)) {
          return [{ uid, container, message: `${what} was called twice within one run (expected the next run)` }];
        }
        ofPass.what.add(what);
        return undefined;
      },
    };
  },
};
