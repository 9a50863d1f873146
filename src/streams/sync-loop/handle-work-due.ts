import { isPastActiveDeadline } from '../../model/pod/active-deadline.js';
import { activeMsOf } from '../../model/pod/active-times.js';
import type { JournalId } from '../../model/journal/journal.js';
import { isTerminalPhase, type Pod, podRef } from '../../model/pod/pod.js';
import type { Wake } from '../../model/pod-workers/wake.js';
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
  const taken = workQueue.takeDue(now);
  if (taken.length > 0) state.apply({ kind: 'work-taken', uids: taken.map(({ uid }) => uid) });
  const due = new Map<string, readonly JournalId[]>(taken.map(({ uid, cause }) => [uid, [cause]]));
  for (const { metadata } of latePods(context)) if (!due.has(metadata.uid)) due.set(metadata.uid, []);
  return [...due].flatMap(([uid, causes]) => {
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

/** The pods that are past their deadline and do not stop yet. */
const latePods = ({ state, scheduler, wallClock }: LoopContext): readonly Pod[] => {
  const now = scheduler.now();
  const started = state.pods.pods().flatMap((pod) => {
    const startTime = startWithDeadline(state, pod);
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
    .map(({ pod }) => pod);
};

/** The start of a pod that has a deadline and does not stop yet. */
const startWithDeadline = ({ statuses, workers }: LoopContext['state'], pod: Pod): string | undefined => {
  if (pod.spec.activeDeadlineSeconds === undefined) return undefined;
  const { uid } = pod.metadata;
  const status = statuses.get(uid) ?? pod.status;
  return workers.isTerminationRequested(uid) || isTerminalPhase(status?.phase) ? undefined : status?.startTime;
};
