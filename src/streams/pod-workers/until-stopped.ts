import { defer, EMPTY, filter, ignoreElements, type Observable, take } from 'rxjs';
import type { KubeletState } from '../sync-loop/kubelet-state.js';

/**
 * Completes once no container of a pod can run any more: at once, if its worker has stopped it or has no record of it, else with the
 * outcome after which that is so. `outcome$` is hot, and emits the outcomes of all workers.
 *
 * Errors: those of `outcome$`.
 */
export const untilStopped =
  ({ workers }: Pick<KubeletState, 'workers'>, outcome$: Observable<unknown>) =>
  (uid: string): Observable<never> => {
    const hasStopped = (): boolean => {
      const record = workers.record(uid);
      return record === undefined || record.terminatedAt !== undefined;
    };
    return defer(() => (hasStopped() ? EMPTY : outcome$.pipe(filter(hasStopped), take(1), ignoreElements())));
  };
