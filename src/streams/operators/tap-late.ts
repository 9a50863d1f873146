import {
  endWith,
  ignoreElements,
  merge,
  type MonoTypeOperatorFunction,
  type SchedulerLike,
  takeWhile,
  tap,
  timer,
} from 'rxjs';

/** Calls `late` once if the source has not ended after so many milliseconds; changes nothing about it. */
export const tapLate =
  <T>(afterMs: number, late: () => void, scheduler: SchedulerLike): MonoTypeOperatorFunction<T> =>
  (source) =>
    merge(timer(afterMs, scheduler).pipe(tap(late), ignoreElements()), source.pipe(endWith<T | typeof END>(END))).pipe(
      takeWhile((value): value is T => value !== END),
    );

const END = Symbol('end');
