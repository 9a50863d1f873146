import {
  endWith,
  filter,
  fromEvent,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  takeWhile,
} from 'rxjs';

const END = Symbol('end of the source');

/**
 * The source, given up with `makeError()` as soon as `signal` fires. Only for work that may be dropped half-way, or as long as
 * `isOpen()` says that it may; a signal that fires later means nothing.
 *
 * Errors: those of the source, and `makeError()`.
 */
export const errorOnAbort =
  <T>(
    signal: AbortSignal | undefined,
    makeError: () => Error,
    isOpen: () => boolean = () => true,
  ): MonoTypeOperatorFunction<T> =>
  (source) => {
    if (!signal) return source;
    const asked$: Observable<unknown> = signal.aborted ? of(true) : fromEvent(signal, 'abort');
    const givenUp$ = asked$.pipe(
      filter(isOpen),
      map((): never => {
        throw makeError();
      }),
    );
    return merge(givenUp$, source.pipe(endWith(END))).pipe(takeWhile((value): value is T => value !== END));
  };
