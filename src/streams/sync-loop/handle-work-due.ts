import { isPastActiveDeadline } from '../../model/pod/active-deadline.js';
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
  const due = new Map<string, readonly JournalId[]>(taken.map(({ uid, cause }) => [uid, [cause]]));
  const late = pods.pods().filter((pod) => isLate(context, pod));
  for (const { metadata } of late) if (!due.has(metadata.uid)) due.set(metadata.uid, []);
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

/** The pod is past its deadline and does not stop yet. */
const isLate = ({ state, scheduler, wallClock }: LoopContext, pod: Pod): boolean => {
  const { statuses, workers, apply } = state;
  if (pod.spec.activeDeadlineSeconds === undefined) return false;
  const { uid } = pod.metadata;
  const status = statuses.get(uid) ?? pod.status;
  if (workers.isTerminationRequested(uid) || isTerminalPhase(status?.phase)) return false;
  const startTime = status?.startTime;
  if (startTime === undefined) return false;
  const moment = { now: scheduler.now(), wallNow: wallClock() };
  return isPastActiveDeadline(pod, apply({ kind: 'start-time-seen', uid, startTime, ...moment }));
};
