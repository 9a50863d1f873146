import { defer, EMPTY, filter, ignoreElements, type Observable, observeOn, type SchedulerLike, take } from 'rxjs';
import type { KubeletState } from '../sync-loop/kubelet-state.js';

/**
 * Completes once no container of a pod can run any more: at once, if its worker has stopped it or has no record of it, else a hop of the
 * scheduler after the change by which its run ends, so that the worker has recorded that end.
 *
 * Errors: none.
 */
export const untilStopped =
  ({ workers, transition$ }: Pick<KubeletState, 'workers' | 'transition$'>, scheduler: SchedulerLike) =>
  (uid: string): Observable<never> => {
    const hasStopped = (): boolean => {
      const record = workers.record(uid);
      return record === undefined || record.terminatedAt !== undefined;
    };
    const stopped$ = transition$.pipe(filter(hasStopped), take(1), observeOn(scheduler), ignoreElements());
    return defer(() => (hasStopped() ? EMPTY : stopped$));
  };
