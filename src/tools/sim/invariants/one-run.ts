import type { Invariant } from './monitor.js';
import { isStaticSource } from './pod-spec.js';
import type { CallTruth, WorldTruth } from './world-truth.js';

/** The calls that only a run may make. The garbage collection stops sandboxes and removes, too. */
const OF_A_PASS: ReadonlySet<string> = new Set(['RunPodSandbox', 'CreateContainer', 'StartContainer', 'PullImage']);
/** The calls that have to be over before their run is. */
const EFFECTS: ReadonlySet<string> = new Set([...OF_A_PASS, 'StopContainer']);

export const oneRun: Invariant = {
  name: 'one-run',
  rule: 'A pod has one run of its worker at a time: runs do not overlap, no call is made outside of them, and none is left behind.',
  source: 'pkg/kubelet/pod_workers.go podWorkerLoop',
  watch: (truth) => {
    /** Pods whose last run ended at this instant: its cancellations may be reported a little later within it. */
    let ended: { readonly at: number; readonly uids: Set<string> } = { at: 0, uids: new Set() };

    const leftBehind = (at: number) => {
      if (ended.uids.size === 0 || at === ended.at) return undefined;
      const left = [...truth.calls.values()].filter(
        (call) => EFFECTS.has(call.call) && call.since <= ended.at && ended.uids.has(call.uid ?? ''),
      );
      const findings = left
        .filter(({ uid, since }) => {
          const pass = truth.pods.get(uid ?? '')?.pass;
          return !pass || pass.since > since;
        })
        .filter((call) => !isOfNamesake(truth, call))
        .map(({ uid, container, call }) => ({
          uid,
          container,
          message: `${call} was still pending after its run had ended (expected the run to wait for it)`,
        }));
      ended = { at, uids: new Set() };
      return findings;
    };

    return {
      on: (event) => {
        const before = leftBehind(event.at);
        if (before && before.length > 0) return before;
        if (event.kind === 'journal') {
          const { entry } = event;
          const uid = entry.pod?.uid ?? '';
          const pass = truth.pods.get(uid)?.pass;
          if (entry.kind === 'sync-started' && pass) {
            return [{ uid, message: `${entry.work} began while ${pass.work} went on (expected it to wait)` }];
          }
          if (entry.kind === 'forgotten' && pass) {
            return [{ uid, message: `forgotten while ${pass.work} went on (expected idle pods only)` }];
          }
          if (entry.kind !== 'sync-ended') return undefined;
          if (ended.at !== event.at) ended = { at: event.at, uids: new Set() };
          ended.uids.add(uid);
          return undefined;
        }
        if (event.kind !== 'call' || !OF_A_PASS.has(event.call)) return undefined;
        const { uid, container } = truth.subject(event);
        const pod = truth.pods.get(uid ?? '');
        if (!pod || pod.pass?.work === 'sync') return undefined;
        const during = pod.pass ? `while the run was ${pod.pass.work}` : 'outside of any run';
        return [{ uid, container, message: `${event.call} was called ${during} (expected within a sync)` }];
      },
    };
  },
};

/** The run of the later version stops containers of an earlier version of a static pod. */
const isOfNamesake = (truth: WorldTruth, { uid }: CallTruth): boolean => {
  const pod = truth.pods.get(uid ?? '');
  if (!pod || !isStaticSource(pod.source)) return false;
  return [...truth.pods.values()].some(
    (other) =>
      other !== pod && other.name === pod.name && other.namespace === pod.namespace && other.pass !== undefined,
  );
};
