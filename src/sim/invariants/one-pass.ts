import type { Invariant } from './monitor.js';
import { isStaticSource } from './pod-spec.js';
import type { CallTruth, WorldTruth } from './world-truth.js';

/** What a pass alone may ask for. Collecting garbage stops sandboxes and removes, too. */
const OF_A_PASS: ReadonlySet<string> = new Set(['RunPodSandbox', 'CreateContainer', 'StartContainer', 'PullImage']);
/** What has to be over before its pass is. */
const EFFECTS: ReadonlySet<string> = new Set([...OF_A_PASS, 'StopContainer']);

export const onePass: Invariant = {
  name: 'one-pass',
  rule: 'A pod is worked on by one pass at a time: passes do not overlap, start nothing outside themselves, and leave no call behind.',
  source: 'pkg/kubelet/pod_workers.go podWorkerLoop',
  watch: (truth) => {
    /** Pods whose last pass ended at this instant: what it gives up may be told a little later within it. */
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
          message: `${call} was still under way after its pass had ended (expected the pass to wait for it)`,
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
        const during = pod.pass ? `while the pass was ${pod.pass.work}` : 'outside of any pass';
        return [{ uid, container, message: `${event.call} was called ${during} (expected within a sync)` }];
      },
    };
  },
};

/** What an earlier revision of a static pod leaves running is stopped by the pass of the later one. */
const isOfNamesake = (truth: WorldTruth, { uid }: CallTruth): boolean => {
  const pod = truth.pods.get(uid ?? '');
  if (!pod || !isStaticSource(pod.source)) return false;
  return [...truth.pods.values()].some(
    (other) =>
      other !== pod && other.name === pod.name && other.namespace === pod.namespace && other.pass !== undefined,
  );
};
