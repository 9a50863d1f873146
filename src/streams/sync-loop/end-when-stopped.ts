import { defer, filter, type MonoTypeOperatorFunction, type Observable, takeUntil, takeWhile, tap } from 'rxjs';
import type { WorkerOutcome } from '../pod-workers/pod-workers.js';

/** After `stop$` has emitted: ends with the outcome after which no container can run any more. */
export const endWhenStopped =
  (stop$: Observable<unknown>, hasStopped: () => boolean): MonoTypeOperatorFunction<WorkerOutcome> =>
  (source) =>
    defer(() => {
      let isStopping = false;
      const nothingToStop$ = stop$.pipe(
        tap(() => (isStopping = true)),
        filter(hasStopped),
      );
      return source.pipe(
        takeWhile(({ next }) => !isStopping || next === 'advance' || !hasStopped(), true),
        takeUntil(nothingToStop$),
      );
    });
