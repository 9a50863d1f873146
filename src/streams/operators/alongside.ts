import { endWith, ignoreElements, merge, type MonoTypeOperatorFunction, type Observable, takeWhile } from 'rxjs';

const END = Symbol('end of the source');

/**
 * Keeps `companion$` subscribed while the source runs, from just before it on. Only the values of the source are emitted.
 *
 * Errors: those of the source and of `companion$`.
 * Ends:   with the source, whether `companion$` has ended or not.
 */
export const alongside =
  <T>(companion$: Observable<unknown>): MonoTypeOperatorFunction<T> =>
  (source) =>
    merge(companion$.pipe(ignoreElements()), source.pipe(endWith<T | typeof END>(END))).pipe(
      takeWhile((value): value is T => value !== END),
    );
