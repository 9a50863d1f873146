import type { PodFigures } from '../../../model/eviction/figures.js';
import { MetThresholds } from './met-thresholds.js';
import type { Finding, Invariant } from './monitor.js';
import { isLive, type PodTruth } from './pod-truth.js';
import type { WorldTruth } from './world-truth.js';

/** The beginning of the reason of an eviction for a shortage of the node. */
const SHORTAGE = 'the node is short of ';
/** The agent acts on a measurement at once, after one of the pods and what it removes. Milliseconds. */
const ACTS_MS = 60_000;
/** The time between two evictions while the pod of the first one runs. Milliseconds. */
const TURN_MS = 30_000;
/** A condition lasts until the first measurement after its transition period. Milliseconds. */
const CONDITION_SLACK_MS = 45_000;
/** A node that is short for this time, with a pod that may go, has evicted one. Milliseconds. */
const ANSWER_MS = 120_000;
const CRITICAL = 2_000_000_000;

type Use = { readonly [Resource in 'memory' | 'ephemeral-storage' | 'pids']: number };

const useOf = ({ workingSet = 0, processes = 0, containers }: PodFigures): Use => ({
  memory: workingSet,
  pids: processes,
  'ephemeral-storage': containers.reduce((sum, { rootfs, logs }) => sum + (rootfs?.bytes ?? 0) + (logs?.bytes ?? 0), 0),
});

export const evictionsAreDue: Invariant = {
  name: 'evictions-are-due',
  rule: 'A pod is evicted only while a threshold is met for its grace period, after all that no pod needs was removed; one pod at a time, the lowest priority and the largest use first, and never a static or a critical one. A node that stays short evicts.',
  source: 'pkg/kubelet/eviction/eviction_manager.go synchronize',
  watch: (truth, { eviction }) => {
    const { thresholds = [], pressureTransitionMs = 0 } = eviction?.policy ?? {};
    let met = new MetThresholds(thresholds);
    let measuredAt = -Infinity;
    let figures: ReadonlyMap<string, Use> = new Map();
    let last: { readonly uid: string; readonly at: number } | undefined;
    const priorityOf = (uid: string): number => truth.pods.get(uid)?.wanted?.spec.priority ?? 0;

    const evicted = (uid: string, reason: string, at: number): readonly Finding[] => {
      const finding = (message: string): readonly Finding[] => [{ uid, message }];
      const before = last;
      last = { uid, at };
      const pod = truth.pods.get(uid);
      if (pod?.source !== 'api' || priorityOf(uid) >= CRITICAL)
        return finding('is evicted, although it is static or critical');
      if (at - measuredAt > ACTS_MS) return finding(`is evicted ${at - measuredAt} ms after the last measurement`);
      const due = met.due(at).filter(({ signal }) => reason.includes(`(${signal}:`));
      if (due.length === 0) return finding('is evicted, but no threshold is met for its grace period');
      if (before && at - before.at < turnOf(truth.pods.get(before.uid)))
        return finding(`is evicted ${at - before.at} ms after another pod, which may still run`);
      const resource = reason.slice(SHORTAGE.length).split(' ')[0] as keyof Use;
      const own = figures.get(uid);
      if (!own) return [];
      const better = [...figures].find(([other, use]) => {
        const isCandidate = mayGo(truth, other) && other !== uid;
        return isCandidate && goesBefore([priorityOf(other), use], [priorityOf(uid), own], resource);
      });
      return better ? finding(`is evicted before ${truth.pods.get(better[0])?.name}`) : [];
    };

    return {
      on: (event): readonly Finding[] | undefined => {
        switch (event.kind) {
          case 'agent-started':
            met = new MetThresholds(thresholds);
            last = undefined;
            return undefined;
          case 'node-measured': {
            met.measured(event.observations, event.at);
            measuredAt = event.at;
            const since = Math.max(met.hardSince ?? Infinity, last?.at ?? -Infinity);
            const waits = [...truth.pods.values()].find((pod) => isSteady(truth, pod, event.at - ANSWER_MS));
            if (!waits || event.at - since < ANSWER_MS) return undefined;
            return [
              {
                uid: waits.uid,
                message: `runs, and nothing is evicted from a node that is short for ${event.at - since} ms`,
              },
            ];
          }
          case 'pods-measured':
            figures = new Map(event.figures.map((each) => [each.uid, useOf(each)]));
            return undefined;
          case 'journal': {
            const { entry } = event;
            const { uid } = entry.pod ?? {};
            if (uid === undefined) return undefined;
            if (entry.kind === 'kill-requested' && entry.reason.startsWith(SHORTAGE))
              return evicted(uid, entry.reason, event.at);
            if (entry.kind !== 'admission-rejected' || entry.reason !== 'Evicted') return undefined;
            const passedMs = event.at - (met.lastMetAt ?? -Infinity);
            if (passedMs <= pressureTransitionMs + CONDITION_SLACK_MS) return undefined;
            return [{ uid, message: `is rejected ${passedMs} ms after the last shortage` }];
          }
          default:
            return undefined;
        }
      },
    };
  },
};

/** The time that has to pass after the eviction of this pod. */
const turnOf = (pod: PodTruth | undefined): number => (pod?.instances.some(isLive) ? TURN_MS : 1_000);

/** Whether the pod could be evicted in the place of another one. */
const mayGo = (truth: WorldTruth, uid: string): boolean => {
  const pod = truth.pods.get(uid);
  if (pod?.source !== 'api' || (pod.wanted?.spec.priority ?? 0) >= CRITICAL) return false;
  return pod.instances.some(isLive) && !isEnding(pod);
};

const isEnding = (pod: PodTruth): boolean =>
  pod.wanted?.metadata.deletionTimestamp !== undefined ||
  [pod.terminatingSince, pod.killRequestedAt, pod.rejectedAt, pod.removalHandledAt].some((at) => at !== undefined);

/** Whether the pod may be evicted, and has run since then without a change. */
const isSteady = (truth: WorldTruth, pod: PodTruth, since: number): boolean =>
  mayGo(truth, pod.uid) &&
  truth.life !== undefined &&
  truth.lifeSince < since &&
  pod.wanted !== undefined &&
  pod.specSince < since &&
  (pod.heardAt ?? Infinity) < since &&
  pod.instances.some((one) => isLive(one) && (one.startedAt ?? Infinity) < since);

/** Whether the first pod is evicted before the second one. No pod of a simulation requests anything. */
const goesBefore = (
  [priority, use]: readonly [number, Use],
  [otherPriority, otherUse]: readonly [number, Use],
  resource: keyof Use,
): boolean => {
  const exceeds = (of: Use): boolean => resource === 'pids' || of[resource] > 0;
  if (exceeds(use) !== exceeds(otherUse)) return exceeds(use);
  if (priority !== otherPriority) return priority < otherPriority;
  return use[resource] > otherUse[resource];
};
