import { isStaticPod, type Pod, podRef, type PodRef, uidsOf } from '../../model/pod/pod.js';
import {
  countPods,
  countWorkingPods,
  deletedAfterRejection,
  mayStillRun,
  newlyOrphaned,
  orphansOf,
  withoutWorker,
} from '../../model/pod-workers/housekeeping.js';
import { resizeCounts } from '../../model/resize/resize-counts.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import type { RuntimePod } from '../../model/pleg/runtime-pod.js';
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
    const { known, wakes, forgotten } = workers.syncKnownPods(uidsOf(desired), now, state.sources.all);
    for (const { uid } of forgotten) apply({ kind: 'pod-forgotten', uid });
    for (const { uid } of wakes) journalOrphan(context, uid, now);
    if (state.sources.all) retainProbes(mayStillRun(known));
    // A pod that came back under the UID of an ended pod begins without the status of that one. A kubelet keeps the status,
    // and never starts a failed pod again.
    const mirrors = pods.mirrors();
    metrics.mirrorPods(mirrors.length);
    const wanted = uidsOf([...desired, ...mirrors]);
    apply({ kind: 'statuses-retained', uids: wanted });
    if (state.sources.all) apply({ kind: 'resizes-retained', uids: wanted });
    for (const { uid } of forgotten) if (wanted.has(uid)) apply({ kind: 'pod-started-over', uid });
    metrics.resizes(resizeCounts(state.value));
    podStarts?.retain(wanted);
    apply({ kind: 'back-offs-expired', now });
    metrics.ephemeralContainers(desired.reduce((sum, { spec }) => sum + (spec.ephemeralContainers?.length ?? 0), 0));
    const active = activePods(state);
    metrics.pods({ desired: countPods(desired), active: countPods(active), working: countWorkingPods(known) });
    // Each step sees the workers that the steps before it have woken.
    const others = [
      ...restart(context, withoutWorker(active, known)),
      ...endRejected(
        context,
        deletedAfterRejection({ desired, known, running, phaseOf: (uid) => state.statuses.get(uid)?.phase }),
      ),
      ...(state.sources.all ? stopOrphans(context, orphansOf(running, known, workers)) : []),
    ];
    journalForgotten(context, forgotten);
    return [...wakes, ...others];
  };

const restart = ({ state, guard, metrics, record, scheduler }: LoopContext, pods: readonly Pod[]): readonly Wake[] =>
  pods.flatMap((pod) =>
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

const endRejected = ({ state, guard, record, scheduler }: LoopContext, pods: readonly Pod[]): readonly Wake[] =>
  pods.flatMap((pod) =>
    guard(podRef(pod), () => {
      const finding = 'the pod is deleted and has ended, but nothing has cleaned up after it';
      const cause = record({ kind: 'housekeeping', finding, pod: podRef(pod), causes: [] });
      const update = { type: 'kill' as const, pod, causes: [cause] };
      return state.workers.update(update, scheduler.now());
    }),
  );

const stopOrphans = (
  { state: { workers }, guard, metrics, record, scheduler }: LoopContext,
  orphans: readonly RuntimePod[],
): readonly Wake[] =>
  orphans.flatMap((runningPod) =>
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
  const pod = newlyOrphaned(workers.record(uid), now);
  if (!pod) return;
  record({
    kind: 'housekeeping',
    finding: 'no source wants the pod any more: it is stopped',
    pod: podRef(pod),
    causes: [],
  });
};
