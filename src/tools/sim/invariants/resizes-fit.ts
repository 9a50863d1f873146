import type { Finding, Invariant } from './monitor.js';
import { amountsOfSpec, type Requests, requestsOf, sumOf } from './pod-amounts.js';
import { isTerminal } from './pod-spec.js';
import { isLive, type PodTruth } from './pod-truth.js';
import type { WorldTruth } from './world-truth.js';
import { ResizeLedger } from './resize-ledger.js';

export const resizesFit: Invariant = {
  name: 'resizes-fit',
  rule: 'What pods were given never exceeds the node: no resize is allocated, and no pod starts, without room beside what the others were given. A resize that waits has no room, and takes none from a pod that runs, also after a restart of the agent.',
  source: 'pkg/kubelet/allocation/allocation_manager.go canAdmitPod',
  watch: (truth, { facts }) => {
    const ledger = new ResizeLedger(truth);
    const node = ledger.nodeOf(facts);

    const missing = (own: Requests, others: readonly Requests[]): string | undefined => {
      const sum = sumOf([own, ...others]);
      const over = (['cpu', 'memory'] as const).find((resource) => own[resource] > 0 && sum[resource] > node[resource]);
      return over && `the pods of the node have ${sum[over]} of ${over} then (expected at most ${node[over]})`;
    };
    const beside = (uid: string): readonly Requests[] =>
      [...truth.pods.values()].filter((pod) => pod.uid !== uid && isCounted(pod)).map((pod) => ledger.leastOf(pod));

    return {
      on: (event): readonly Finding[] | undefined => {
        ledger.on(event);
        if (event.kind === 'call' && event.call === 'RunPodSandbox') {
          const { uid = '' } = truth.subject(event);
          const pod = truth.pods.get(uid);
          const problem = pod && missing(ledger.leastOf(pod), beside(uid));
          return problem === undefined ? undefined : [{ uid, message: `starts, and ${problem}` }];
        }
        if (event.kind === 'journal' && event.entry.kind === 'admission-rejected') {
          const pod = truth.pods.get(event.entry.pod?.uid ?? '');
          if (!pod?.instances.some(isLive) || !event.entry.reason.startsWith('OutOf')) return undefined;
          const others = [...truth.pods.values()].filter((other) => other.uid !== pod.uid && mayCount(truth, other));
          if (
            missing(
              ledger.mostOf(pod),
              others.map((other) => ledger.mostOf(other)),
            ) !== undefined
          )
            return undefined;
          return [
            {
              uid: pod.uid,
              message: 'runs, and is rejected although the node has room for it beside what the others were given',
            },
          ];
        }
        if (event.kind !== 'journal' || event.entry.kind !== 'resize' || event.entry.decision !== 'allocated')
          return undefined;
        const uid = event.entry.pod?.uid ?? '';
        const pod = truth.pods.get(uid);
        const problem = pod && missing(ledger.leastOf(pod), beside(uid));
        return problem === undefined ? undefined : [{ uid, message: `was given what it asks for, and ${problem}` }];
      },
      end: ({ at, quietSince }) =>
        [...truth.pods.values()].flatMap((pod): readonly Finding[] => {
          const { uid, wanted, shown, specSince } = pod;
          const pending = shown?.pod.status?.conditions?.find(({ type }) => type === 'PodResizePending');
          if (!wanted || !pending || !isCounted(pod)) return [];
          if (at - Math.max(quietSince, specSince) < SETTLED_MS) return [];
          const others = [...truth.pods.values()].filter((other) => other.uid !== uid && mayCount(truth, other));
          const own = requestsOf(wanted, amountsOfSpec(wanted));
          if (
            missing(
              own,
              others.map((other) => ledger.mostOf(other)),
            ) !== undefined
          )
            return [];
          return [{ uid, message: `waits for a resize (${pending.reason}), though the node has room for it` }];
        }),
    };
  },
};

/** A resize that waits is tried again within this time. Milliseconds. */
const SETTLED_MS = 190_000;

/** The agent has the pod from its source, and it is not about to end. */
const isCounted = (pod: PodTruth): boolean =>
  pod.wanted !== undefined &&
  pod.wanted.metadata.deletionTimestamp === undefined &&
  pod.heardAt !== undefined &&
  !isTerminal(pod.wanted.status?.phase) &&
  !isTerminal(pod.phase) &&
  !isTerminal(pod.shown?.pod.status?.phase) &&
  [pod.rejectedAt, pod.removalHandledAt, pod.terminatingSince, pod.killRequestedAt].every((at) => at === undefined);

/** The agent may still count the pod. */
const mayCount = ({ apiPods }: WorldTruth, pod: PodTruth): boolean =>
  pod.rejectedAt === undefined &&
  (pod.wanted !== undefined || pod.removalHandledAt !== undefined) &&
  !isTerminal(pod.phase) &&
  !isTerminal(apiPods.find(({ metadata }) => metadata.uid === pod.uid)?.status?.phase);
