import type { RuntimePod } from '../pleg/runtime-pod.js';
import { isStaticPod, isTerminalPhase, type Pod } from '../pod/pod.js';
import type { KnownPod, PodWorkerRegistry } from './pod-worker-registry.js';
import type { PodWorkerRecord } from './pod-worker-record.js';

// The decisions of one round of housekeeping. `known` are the pods with a worker, by UID, after the round has dropped those that are over.

type KnownByUid = ReadonlyMap<string, KnownPod>;

/** Returns the UIDs of the pods with a worker that has not ended them: their probes go on. */
export const mayStillRun = (known: KnownByUid): ReadonlySet<string> =>
  new Set([...known].filter(([, { work }]) => work !== 'terminated').map(([uid]) => uid));

/** Returns the active pods that have no worker: until now a former pod used their UID. */
export const withoutWorker = (active: readonly Pod[], known: KnownByUid): readonly Pod[] =>
  active.filter(({ metadata }) => !known.has(metadata.uid));

/** The pods of one round that a worker may still have to clean up. */
export interface RejectedPods {
  readonly desired: readonly Pod[];
  readonly known: KnownByUid;
  /** The pods of a listing of the runtime that was requested after the tick. */
  readonly running: readonly RuntimePod[];
  /** Returns the phase in the status that the agent has computed. */
  readonly phaseOf: (uid: string) => string | undefined;
}

/** Returns the pods that were deleted after their rejection: they have no container, but a worker has to clean up. */
export const deletedAfterRejection = ({ desired, known, running, phaseOf }: RejectedPods): readonly Pod[] => {
  const runningUids = new Set(running.map(({ uid }) => uid));
  return desired.filter(({ metadata: { uid, deletionTimestamp }, status }) => {
    const hasEnded = isTerminalPhase(status?.phase) || isTerminalPhase(phaseOf(uid));
    return deletionTimestamp !== undefined && hasEnded && !known.has(uid) && !runningUids.has(uid);
  });
};

/** Returns the running pods that no source wants, no worker works on and no other part stops. */
export const orphansOf = (
  running: readonly RuntimePod[],
  known: KnownByUid,
  workers: Pick<PodWorkerRegistry, 'record' | 'isKillReserved'>,
): readonly RuntimePod[] =>
  running.filter(({ uid }) => !known.has(uid) && workers.record(uid) === undefined && !workers.isKillReserved(uid));

/** Returns the pod whose worker stops it from `now` on, since no source wants it; undefined for a stop that began before. */
export const newlyOrphaned = (
  record: Pick<PodWorkerRecord, 'active' | 'terminatingAt'> | undefined,
  now: number,
): Pod | undefined => (record?.terminatingAt === now ? record.active?.pod : undefined);

export interface PodCount {
  readonly static: number;
  readonly other: number;
}

export const countPods = (pods: readonly Pod[]): PodCount => {
  const statics = pods.filter(isStaticPod).length;
  return { static: statics, other: pods.length - statics };
};

/** Pods per state of their worker. Source: pkg/kubelet/metrics/metrics.go WorkingPodCount. */
export interface WorkingPods {
  readonly lifecycle: 'sync' | 'terminating' | 'terminated';
  readonly config: 'desired' | 'orphan' | 'runtime_only';
  readonly static: '' | 'true' | 'unknown';
  readonly count: number;
}

/** Returns the counts of the states that a worker is in, in the order in which they occur. */
export const countWorkingPods = (known: KnownByUid): readonly WorkingPods[] => {
  const counts = new Map<string, WorkingPods>();
  for (const { work, isOrphan, hasConfig, isStatic } of known.values()) {
    const config = !hasConfig ? 'runtime_only' : isOrphan ? 'orphan' : 'desired';
    const statics = !hasConfig ? 'unknown' : isStatic ? 'true' : '';
    const key = `${work} ${config} ${statics}`;
    const before = counts.get(key)?.count ?? 0;
    counts.set(key, { lifecycle: work, config, static: statics, count: before + 1 });
  }
  return [...counts.values()];
};
