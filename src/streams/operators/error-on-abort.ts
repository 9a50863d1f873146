import { endWith, fromEvent, map, merge, type MonoTypeOperatorFunction, type Observable, of, takeWhile } from 'rxjs';

const END = Symbol('end of the source');

/**
 * The source, given up with `makeError()` as soon as `signal` fires. Only for work that may be dropped half-way.
 *
 * Errors: those of the source, and `makeError()`.
 */
export const errorOnAbort =
  <T>(signal: AbortSignal | undefined, makeError: () => Error): MonoTypeOperatorFunction<T> =>
  (source) => {
    if (!signal) return source;
    const asked$: Observable<unknown> = signal.aborted ? of(true) : fromEvent(signal, 'abort');
    const givenUp$ = asked$.pipe(
      map((): never => {
        throw makeError();
      }),
    );
    return merge(givenUp$, source.pipe(endWith(END))).pipe(takeWhile((value): value is T => value !== END));
  };
