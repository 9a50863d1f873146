import type { WorkerOutcome } from '../pod-workers.js';
import type { LoopDesk } from './loop-desk.js';

/** Puts the pod of every outcome back into the queue for when it is due again, and measures the run. */
export const observeOutcome =
  ({ queue, metrics, scheduler, log }: LoopDesk) =>
  ({ uid, run, work, next, dueAt, error, journalId }: WorkerOutcome): void => {
    if (dueAt !== undefined) queue.enqueue(uid, dueAt, journalId);
    if (error !== undefined) log.debug({ uid, work, error }, 'a pass over a pod ended with an error');
    if (!run) return;
    const operation = work === 'terminated' || next === 'exit' ? 'terminated' : run.type;
    if (run.startedAt !== undefined) metrics.podWorker(operation, (scheduler.now() - run.startedAt) / 1000);
    if (run.isFirst && run.pod) metrics.containersPerPod(run.pod.spec.containers.length);
  };
