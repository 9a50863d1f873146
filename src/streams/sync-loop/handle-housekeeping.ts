import { isStaticPod, isTerminalPhase, type Pod, podRef, type PodRef } from '../../model/pod/pod.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import type { KnownPod } from '../../model/pod-workers/pod-worker-registry.js';
import type { RuntimePod } from '../../model/pleg/runtime-pod.js';
import type { PodCount, WorkingPods } from '../ports/metrics.js';
import { activePods } from './active-pods.js';
import type { LoopContext } from './loop-context.js';

/** The grace period of a pod that only the runtime knows, in seconds. Source: pkg/kubelet/kubelet_pods.go */
export const ORPHAN_GRACE_SECONDS = 1;

/**
 * Compares workers, configuration and runtime: stops orphans, forgets ended pods, starts desired pods without a worker.
 * `running` is a listing that was requested after the tick. `retainProbes` receives the UIDs of the pods that may still run.
 *
 * Until every source is ready, a pod that has no worker may be wanted by a source that is late: it is not stopped, and its probes are
 * kept. Pods with a worker do not wait: the source that named a pod has removed it.
 *
 * Source: pkg/kubelet/kubelet_pods.go HandlePodCleanups, which begins once every source is ready
 */
export const handleHousekeeping =
  (context: LoopContext, retainProbes: (uids: ReadonlySet<string>) => void = () => undefined) =>
  (running: readonly RuntimePod[]): readonly Wake[] => {
    const { state, podStarts, metrics, scheduler } = context;
    const { pods, workers, apply } = state;
    const now = scheduler.now();
    const desired = pods.pods();
    const uids = new Set(desired.map(({ metadata }) => metadata.uid));
    const { known, wakes, forgotten } = workers.syncKnownPods(uids, now, state.sources.all);
    for (const { uid } of forgotten) apply({ kind: 'pod-forgotten', uid });
    for (const { uid } of wakes) journalOrphan(context, uid, now);
    if (state.sources.all)
      retainProbes(new Set([...known].filter(([, { work }]) => work !== 'terminated').map(([uid]) => uid)));
    // A pod that came back under the UID of an ended pod begins without the status of that one. A kubelet keeps the status,
    // and never starts a failed pod again.
    const mirrors = pods.mirrors();
    metrics.mirrorPods(mirrors.length);
    const wanted = new Set([...desired, ...mirrors].map(({ metadata }) => metadata.uid));
    apply({ kind: 'statuses-retained', uids: wanted });
    for (const { uid } of forgotten) if (wanted.has(uid)) apply({ kind: 'pod-started-over', uid });
    podStarts?.retain(wanted);
    apply({ kind: 'back-offs-expired', now });
    metrics.ephemeralContainers(desired.reduce((sum, { spec }) => sum + (spec.ephemeralContainers?.length ?? 0), 0));
    const active = activePods(state);
    metrics.pods({ desired: count(desired), active: count(active), working: workingPods(known) });
    const others = [
      ...restartForgotten(context, active, known),
      ...stopRejected(context, desired, known, running),
      ...(state.sources.all ? stopOrphans(context, known, running) : []),
    ];
    journalForgotten(context, forgotten);
    return [...wakes, ...others];
  };

/** Starts desired pods that have no worker: until now a former pod used their UID. */
const restartForgotten = (
  { state, guard, metrics, record, scheduler }: LoopContext,
  active: readonly Pod[],
  known: ReadonlyMap<string, KnownPod>,
): readonly Wake[] =>
  active
    .filter(({ metadata }) => !known.has(metadata.uid))
    .flatMap((pod) =>
      guard(podRef(pod), () => {
        metrics.podRestarted(isStaticPod(pod));
        const finding = 'the pod is wanted and nothing works on it: it is started';
        const cause = record({ kind: 'housekeeping', finding, pod: podRef(pod), causes: [] });
        const { mirrorPod } = state.pods.resolve(pod);
        const now = scheduler.now();
        const update = { type: 'create' as const, pod, mirrorPod, startedAt: now, causes: [cause] };
        return state.workers.update(update, now);
      }),
    );

/** Ends pods that were deleted after their rejection: they have no container, but a worker has to clean up. */
const stopRejected = (
  { state, guard, record, scheduler }: LoopContext,
  desired: readonly Pod[],
  known: ReadonlyMap<string, KnownPod>,
  running: readonly RuntimePod[],
): readonly Wake[] => {
  const runningUids = new Set(running.map(({ uid }) => uid));
  return desired
    .filter(({ metadata: { uid, deletionTimestamp }, status }) => {
      const hasEnded = isTerminalPhase(status?.phase) || isTerminalPhase(state.statuses.get(uid)?.phase);
      return deletionTimestamp !== undefined && hasEnded && !known.has(uid) && !runningUids.has(uid);
    })
    .flatMap((pod) =>
      guard(podRef(pod), () => {
        const finding = 'the pod is deleted and has ended, but nothing has cleaned up after it';
        const cause = record({ kind: 'housekeeping', finding, pod: podRef(pod), causes: [] });
        const update = { type: 'kill' as const, pod, causes: [cause] };
        return state.workers.update(update, scheduler.now());
      }),
    );
};

/** Stops running pods that no source wants, no worker works on and no other part stops. */
const stopOrphans = (
  { state: { workers }, guard, metrics, record, scheduler }: LoopContext,
  known: ReadonlyMap<string, KnownPod>,
  running: readonly RuntimePod[],
): readonly Wake[] =>
  running
    .filter(({ uid }) => !known.has(uid) && workers.record(uid) === undefined && !workers.isKillReserved(uid))
    .flatMap((runningPod) =>
      guard(runningPod, () => {
        metrics.orphanedRuntimePod();
        const { uid, namespace, name } = runningPod;
        const finding = 'the pod runs but no source wants it: it is stopped';
        const cause = record({ kind: 'housekeeping', finding, pod: { uid, namespace, name }, causes: [] });
        const kill = { graceSeconds: ORPHAN_GRACE_SECONDS };
        const update = { type: 'kill' as const, runningPod, kill, causes: [cause] };
        return workers.update(update, scheduler.now());
      }),
    );

/** A pod that starts over at once, under its UID, is not forgotten. */
const journalForgotten = ({ state: { workers }, record }: LoopContext, forgotten: readonly PodRef[]): void => {
  for (const pod of forgotten) if (!workers.record(pod.uid)) record({ kind: 'forgotten', pod, causes: [] });
};

/** Records an orphan once, when it is found. */
const journalOrphan = ({ state: { workers }, record }: LoopContext, uid: string, now: number): void => {
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
