import { isPastActiveDeadline, startOfDeadline } from '../../model/pod/active-deadline.js';
import { activeMsOf } from '../../model/pod/active-times.js';
import { podRef } from '../../model/pod/pod.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import { causesOfSyncs } from '../../model/pod-workers/work-queue.js';
import type { LoopContext } from './loop-context.js';

/**
 * Wakes the workers of the pods that are due in the work queue or past their active deadline. Drops the entry of a pod that no
 * source wants: housekeeping wakes its worker.
 *
 * Source: pkg/kubelet/kubelet.go getPodsToSync, pkg/kubelet/active_deadline.go ShouldSync
 */
export const handleWorkDue = (context: LoopContext) => (): readonly Wake[] => {
  const { state, guard, record, scheduler } = context;
  const { pods, workers, workQueue } = state;
  const now = scheduler.now();
  const due = workQueue.takeDue(now);
  if (due.length > 0) state.apply({ kind: 'work-taken', uids: due.map(({ uid }) => uid) });
  return [...causesOfSyncs(due, lateUids(context))].flatMap(([uid, causes]) => {
    const pod = pods.get(uid);
    if (!pod) return [];
    return guard(podRef(pod), () => {
      const cause = record({ kind: 'work-due', pod: podRef(pod), causes });
      const { mirrorPod } = pods.resolve(pod);
      const update = { type: 'sync' as const, pod, mirrorPod, startedAt: now, causes: [cause] };
      return workers.update(update, now);
    });
  });
};

/** The UIDs of the pods that are past their deadline and do not stop yet. */
const lateUids = ({ state, scheduler, wallClock }: LoopContext): readonly string[] => {
  const { pods, statuses, workers } = state;
  const now = scheduler.now();
  const started = pods.pods().flatMap((pod) => {
    const { uid } = pod.metadata;
    const startTime = startOfDeadline(pod, statuses.get(uid) ?? pod.status, workers.isTerminationRequested(uid));
    return startTime === undefined ? [] : [{ pod, startTime }];
  });
  for (const { pod, startTime } of started) {
    state.apply({ kind: 'start-time-seen', uid: pod.metadata.uid, startTime, now, wallNow: wallClock() });
  }
  const { activeTimes } = state.value;
  return started
    .filter(({ pod, startTime }) =>
      isPastActiveDeadline(pod, activeMsOf(activeTimes, pod.metadata.uid, startTime, now)),
    )
    .map(({ pod }) => pod.metadata.uid);
};
