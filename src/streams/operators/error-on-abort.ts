import { filter, fromEvent, map, type MonoTypeOperatorFunction, type Observable, of } from 'rxjs';
import { alongside } from './alongside.js';

/**
 * Ends the source with `makeError()` as soon as `signal` fires while `isOpen()` is true; a signal that fires later has no effect.
 * Only for work that may be cancelled half-way.
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
    const abort$: Observable<unknown> = signal.aborted ? of(true) : fromEvent(signal, 'abort');
    const failure$ = abort$.pipe(
      filter(isOpen),
      map((): never => {
        throw makeError();
      }),
    );
    return source.pipe(alongside(failure$));
  };
