import { killTimeoutMs } from '../../../model/pod-workers/kill-timeout.js';
import type { Finding, Invariant } from './monitor.js';
import { isLive, type PodTruth } from './pod-truth.js';

/** The reason of a stop that makes room names the pod for which it is made. */
const MAKES_ROOM = /^it makes room for the critical pod \S+\(([^)]+)\),/;
const CRITICAL = 2_000_000_000;

/** A pod with the shortest grace period is waited for as long, in milliseconds; others are waited for longer. */
const WAIT_MS = killTimeoutMs(0);

export const roomIsMade: Invariant = {
  name: 'room-is-made',
  rule: 'A pod is stopped to make room only for a critical pod that has none, no more of them than it needs, and never a critical one for one that is no more critical. No pod starts on a full node: it waits until those that make room have stopped, or their time is over.',
  source: 'pkg/kubelet/preemption/preemption.go evictPodsToFreeRequests',
  watch: (truth, { podCapacity }) => {
    /** When each pod of this life of the agent was stopped, and for which one. */
    let victims = new Map<string, { readonly at: number; readonly for: string }>();

    const priorityOf = (uid: string): number | undefined => truth.pods.get(uid)?.manifest?.spec.priority;
    const isCritical = (uid: string): boolean =>
      truth.pods.get(uid)?.source !== 'api' || (priorityOf(uid) ?? 0) >= CRITICAL;
    /** Every pod that the agent counts, and perhaps some that have ended. */
    const admittedBeside = (uid: string): readonly PodTruth[] =>
      [...truth.pods.values()].filter((pod) => pod.uid !== uid && isAdmitted(pod));

    const stopped = (uid: string, preemptor: string, at: number): readonly Finding[] => {
      victims.set(uid, { at, for: preemptor });
      const finding = (message: string): readonly Finding[] => [{ uid, message }];
      if (!isCritical(preemptor)) return finding(`is stopped for ${preemptor}, which is not critical`);
      const isAbove = (priorityOf(preemptor) ?? -Infinity) > (priorityOf(uid) ?? Infinity);
      if (isCritical(uid) && !isAbove) return finding(`is stopped for ${preemptor}, although it is critical, too`);
      const isForOther = ({ uid: other }: PodTruth): boolean => (victims.get(other)?.for ?? preemptor) !== preemptor;
      const counted = admittedBeside(preemptor).filter((pod) => !isForOther(pod));
      const needed = counted.length + 1 - podCapacity;
      const chosen = counted.filter((pod) => victims.has(pod.uid)).length;
      if (chosen <= needed) return [];
      return finding(
        `is stopped for ${preemptor}, which needs the room of ${Math.max(0, needed)} pods, not of ${chosen}`,
      );
    };

    /** The pods that run beside a new one, without those whose time to stop is over. */
    const runsBeside = (uid: string, at: number): number =>
      admittedBeside(uid).filter((pod) => {
        const stop = victims.get(pod.uid)?.at ?? pod.killRequestedAt;
        return pod.instances.some(isLive) && at - (stop ?? at) < WAIT_MS;
      }).length;

    return {
      on: (event): readonly Finding[] | undefined => {
        switch (event.kind) {
          case 'agent-started':
            victims = new Map();
            return undefined;
          case 'call': {
            if (event.call !== 'RunPodSandbox') return undefined;
            const { uid = '' } = truth.subject(event);
            const running = runsBeside(uid, event.at);
            if (running < podCapacity) return undefined;
            return [{ uid, message: `starts beside ${running} pods on a node for ${podCapacity}` }];
          }
          case 'journal': {
            const { uid } = event.entry.pod ?? {};
            if (uid === undefined || event.entry.kind !== 'kill-requested') return undefined;
            const preemptor = MAKES_ROOM.exec(event.entry.reason)?.[1];
            return preemptor === undefined ? undefined : stopped(uid, preemptor, event.at);
          }
          default:
            return undefined;
        }
      },
    };
  },
};

/** The agent has it from its source, and has not rejected it. */
const isAdmitted = ({ heardAt, removalHandledAt, rejectedAt }: PodTruth): boolean =>
  heardAt !== undefined && removalHandledAt === undefined && rejectedAt === undefined;
