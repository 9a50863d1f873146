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

export interface DebounceTiming {
  /** The pause of the source after which the last value is emitted, in milliseconds. */
  readonly quietMs: number;
  /** The longest burst, in milliseconds: after that time its last value is emitted although values go on. */
  readonly longestMs: number;
  readonly scheduler?: SchedulerLike;
}

/**
 * Emits the last value of a burst once the source has been quiet for `quietMs`, and every `longestMs` of a burst that does not
 * pause. `debounceTime` alone emits nothing during such a burst.
 *
 * Errors: those of the source, at once.
 * Ends:   with the source, after the last value of a burst that is not over.
 */
export const debounceAtMost = <T>({
  quietMs,
  longestMs,
  scheduler = asyncScheduler,
}: DebounceTiming): MonoTypeOperatorFunction<T> =>
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
