import { isStaticPod, isTerminalPhase, type Pod, podRef } from '../../model/pod.js';
import type { Delivery, KnownPod } from '../../model/pod-workers/pod-worker-registry.js';
import type { RuntimePod } from '../../model/runtime-pod.js';
import { dropStale } from '../pod-sync/back-offs.js';
import type { PodCount, WorkingPods } from '../ports.js';
import { activePods, type LoopDesk } from './loop-desk.js';

/** Seconds that a pod gets to stop of which only the runtime knows. Source: pkg/kubelet/kubelet_pods.go */
const ORPHAN_GRACE_SECONDS = 1;

/**
 * Brings workers, configuration and runtime together again: orphans are stopped, the ended forgotten, the forgotten started.
 * `running` is a listing that was asked for after the tick. `retainProbes` hears which pods may still run.
 *
 * Source: pkg/kubelet/kubelet_pods.go HandlePodCleanups
 */
export const handleHousekeeping =
  (desk: LoopDesk, retainProbes: (uids: ReadonlySet<string>) => void = () => undefined) =>
  (running: readonly RuntimePod[]): readonly Delivery[] => {
    const { pods, workers, statuses, podStarts, backOffs, metrics, scheduler, wallClock } = desk;
    const now = scheduler.now();
    const desired = pods.pods();
    const { known, deliveries } = workers.syncKnownPods(new Set(desired.map(({ metadata }) => metadata.uid)), now);
    for (const { kind, uid } of deliveries) if (kind === 'wake') noteOrphan(desk, uid, now);
    retainProbes(new Set([...known].filter(([, { work }]) => work !== 'terminated').map(([uid]) => uid)));
    // A pod that came back under the UID of one that has ended begins without what became of that one. A kubelet keeps it,
    // and never starts a pod again that failed before.
    const ended = new Set(deliveries.flatMap((delivery) => (delivery.kind === 'forget' ? [delivery.uid] : [])));
    const mirrors = pods.mirrors();
    metrics.mirrorPods(mirrors.length);
    const wanted = [...desired, ...mirrors].map(({ metadata }) => metadata.uid);
    statuses.retain(new Set(wanted.filter((uid) => !ended.has(uid))));
    podStarts?.retain(new Set(wanted));
    dropStale(backOffs, wallClock());
    const active = activePods(desk);
    metrics.pods({ desired: count(desired), active: count(active), working: workingPods(known) });
    return [
      ...deliveries,
      ...restartForgotten(desk, active, known),
      ...stopRejected(desk, desired, known, running),
      ...stopOrphans(desk, known, running),
    ];
  };

/** Pods that are wanted but have no worker: their UID was in use by a former pod until now. */
const restartForgotten = (
  { pods, workers, metrics, record, scheduler }: LoopDesk,
  active: readonly Pod[],
  known: ReadonlyMap<string, KnownPod>,
): readonly Delivery[] =>
  active
    .filter(({ metadata }) => !known.has(metadata.uid))
    .flatMap((pod) => {
      metrics.podRestarted(isStaticPod(pod));
      const finding = 'the pod is wanted and nothing works on it: it is started';
      const cause = record({ kind: 'housekeeping', finding, pod: podRef(pod), causes: [] });
      const { mirrorPod } = pods.resolve(pod);
      const startedAt = scheduler.now();
      return workers.update({ type: 'create', pod, mirrorPod, startedAt, causes: [cause] }, startedAt);
    });

/** Pods that were deleted after they had been rejected: nothing runs of them, but their end has to be seen through. */
const stopRejected = (
  { workers, statuses, record, scheduler }: LoopDesk,
  desired: readonly Pod[],
  known: ReadonlyMap<string, KnownPod>,
  running: readonly RuntimePod[],
): readonly Delivery[] => {
  const runningUids = new Set(running.map(({ uid }) => uid));
  return desired
    .filter(({ metadata: { uid, deletionTimestamp }, status }) => {
      const hasEnded = isTerminalPhase(status?.phase) || isTerminalPhase(statuses.get(uid)?.phase);
      return deletionTimestamp !== undefined && hasEnded && !known.has(uid) && !runningUids.has(uid);
    })
    .flatMap((pod) => {
      const finding = 'the pod is deleted and has ended, but nothing has cleaned up after it';
      const cause = record({ kind: 'housekeeping', finding, pod: podRef(pod), causes: [] });
      return workers.update({ type: 'kill', pod, causes: [cause] }, scheduler.now());
    });
};

/** Pods that run without anybody wanting, working on or stopping them. */
const stopOrphans = (
  { workers, metrics, record, scheduler }: LoopDesk,
  known: ReadonlyMap<string, KnownPod>,
  running: readonly RuntimePod[],
): readonly Delivery[] =>
  running
    .filter(({ uid }) => !known.has(uid) && workers.record(uid) === undefined && !workers.isClaimed(uid))
    .flatMap((runningPod) => {
      metrics.orphanedRuntimePod();
      const { uid, namespace, name } = runningPod;
      const finding = 'the pod runs but no source wants it: it is stopped';
      const cause = record({ kind: 'housekeeping', finding, pod: { uid, namespace, name }, causes: [] });
      const kill = { graceSeconds: ORPHAN_GRACE_SECONDS };
      return workers.update({ type: 'kill', runningPod, kill, causes: [cause] }, scheduler.now());
    });

/** Said once, when the orphan is found; later passes only drive it on. */
const noteOrphan = ({ workers, record }: LoopDesk, uid: string, now: number): void => {
  const worker = workers.record(uid);
  const pod = worker?.active?.pod;
  if (!pod || worker.terminatingAt !== now) return;
  record({
    kind: 'housekeeping',
    finding: 'no source wants the pod any more: it is stopped',
    pod: podRef(pod),
    causes: [],
  });
};

const count = (pods: readonly Pod[]): PodCount => {
  const statics = pods.filter(isStaticPod).length;
  return { static: statics, other: pods.length - statics };
};

const workingPods = (known: ReadonlyMap<string, KnownPod>): readonly WorkingPods[] => {
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
