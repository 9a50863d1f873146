import { isPastActiveDeadline } from '../../model/active-deadline.js';
import type { JournalId } from '../../model/journal.js';
import { isTerminalPhase, type Pod, podRef } from '../../model/pod.js';
import type { Delivery } from '../../model/pod-workers/pod-worker-registry.js';
import type { LoopDesk } from './loop-desk.js';

/**
 * Looks again at the pods whose time has come: those that are due in the queue, and those that have outlived their active
 * deadline. What is due of a pod that nobody wants any more is dropped: housekeeping drives those.
 *
 * Source: pkg/kubelet/kubelet.go getPodsToSync, pkg/kubelet/active_deadline.go ShouldSync
 */
export const handleWorkDue = (desk: LoopDesk) => (): readonly Delivery[] => {
  const { queue, pods, workers, record, scheduler } = desk;
  const now = scheduler.now();
  const due = new Map<string, readonly JournalId[]>(queue.takeDue(now).map(({ uid, cause }) => [uid, [cause]]));
  const late = pods.pods().filter((pod) => isLate(desk, pod));
  for (const { metadata } of late) if (!due.has(metadata.uid)) due.set(metadata.uid, []);
  return [...due].flatMap(([uid, causes]) => {
    const pod = pods.get(uid);
    if (!pod) return [];
    const cause = record({ kind: 'work-due', pod: podRef(pod), causes });
    const { mirrorPod } = pods.resolve(pod);
    return workers.update({ type: 'sync', pod, mirrorPod, startedAt: now, causes: [cause] }, now);
  });
};

/** Past its deadline, and not on its way out yet. */
const isLate = ({ statuses, workers, wallClock }: LoopDesk, pod: Pod): boolean => {
  if (pod.spec.activeDeadlineSeconds === undefined) return false;
  const { uid } = pod.metadata;
  const status = statuses.get(uid) ?? pod.status;
  if (workers.isTerminationRequested(uid) || isTerminalPhase(status?.phase)) return false;
  return isPastActiveDeadline(pod, status?.startTime, wallClock());
};
