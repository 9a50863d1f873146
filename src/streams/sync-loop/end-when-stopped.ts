import {
  filter,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  startWith,
  takeUntil,
  takeWhile,
  withLatestFrom,
} from 'rxjs';
import type { WorkerOutcome } from '../pod-workers/pod-workers.js';

/**
 * After `stop$` has emitted: ends with the outcome after which no container can run any more, or at once if none can. `stop$` is
 * subscribed twice, so it has to be hot.
 */
export const endWhenStopped =
  (stop$: Observable<unknown>, hasStopped: () => boolean): MonoTypeOperatorFunction<WorkerOutcome> =>
  (source) =>
    source.pipe(
      withLatestFrom(
        stop$.pipe(
          map(() => true),
          startWith(false),
        ),
      ),
      takeWhile(([{ next }, isStopping]) => !isStopping || next === 'advance' || !hasStopped(), true),
      map(([outcome]) => outcome),
      takeUntil(stop$.pipe(filter(hasStopped))),
    );
