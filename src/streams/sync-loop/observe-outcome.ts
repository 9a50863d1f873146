import type { WorkerOutcome } from '../pod-workers/pod-workers.js';
import type { LoopContext } from './loop-context.js';

/** Puts the pod of every outcome back into the queue for when it is due again, and measures the run. */
export const observeOutcome =
  ({ state, metrics, scheduler, log }: LoopContext) =>
  ({ uid, run, work, next, dueAt, error, wait, journalId }: WorkerOutcome): void => {
    if (dueAt !== undefined) {
      state.workQueue.enqueue(uid, dueAt, journalId);
      state.apply({ kind: 'work-queued', uid, dueAt });
    }
    if (error !== undefined) log.debug({ uid, work, error }, 'a sync ended with an error');
    if (wait) log.debug({ uid, work, wait: wait.message }, 'a sync ended, and containers of the pod wait');
    if (!run) return;
    const operation = work === 'terminated' || next === 'exit' ? 'terminated' : run.type;
    if (run.startedAt !== undefined) metrics.podWorker(operation, (scheduler.now() - run.startedAt) / 1000);
    if (run.isFirst && run.pod) metrics.containersPerPod(run.pod.spec.containers.length);
  };
