import type { Invariant } from './monitor.js';

/** Calls of which a pass needs one per target, and which nobody but a pass makes. */
const ONCE: ReadonlySet<string> = new Set(['RunPodSandbox', 'CreateContainer', 'StartContainer', 'StopContainer']);

export const noRetryWithinAPass: Invariant = {
  name: 'no-retry-within-a-pass',
  rule: 'A pass asks for each thing at most once: what fails is tried again by another pass, which works on newer facts.',
  source: 'pkg/kubelet/pod_workers.go completeWork',
  watch: (truth) => {
    /** What the present pass of a pod has asked for. */
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
          return [{ uid, container, message: `${what} was called twice within one pass (expected another pass)` }];
        }
        ofPass.what.add(what);
        return undefined;
      },
    };
  },
};
