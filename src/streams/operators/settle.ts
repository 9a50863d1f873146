import {
  asyncScheduler,
  connect,
  debounceTime,
  exhaustMap,
  merge,
  type MonoTypeOperatorFunction,
  type SchedulerLike,
  startWith,
  take,
  takeLast,
  takeUntil,
  timer,
} from 'rxjs';

export interface Settling {
  /** How long nothing may come before the last value passes. */
  readonly quietMs: number;
  /** How long values may keep coming before one passes all the same. */
  readonly longestMs: number;
  readonly scheduler?: SchedulerLike;
}

/**
 * Emits the last of a burst once it has been quiet for `quietMs`, and at least every `longestMs` of a burst that never
 * pauses. Unlike `debounceTime` alone it cannot be starved.
 *
 * Ends: with the source, after the last value of a burst that had not settled by then.
 */
export const settle = <T>({ quietMs, longestMs, scheduler = asyncScheduler }: Settling): MonoTypeOperatorFunction<T> =>
  connect((value$) =>
    value$.pipe(
      exhaustMap((first) => {
        const burst$ = value$.pipe(startWith(first));
        return merge(
          burst$.pipe(debounceTime(quietMs, scheduler)),
          burst$.pipe(takeUntil(timer(longestMs, scheduler)), takeLast(1)),
        ).pipe(take(1));
      }),
    ),
  );
