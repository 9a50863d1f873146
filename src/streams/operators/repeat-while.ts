import { EMPTY, type MonoTypeOperatorFunction, of, repeat } from 'rxjs';

/**
 * Subscribes to the source again each time it has completed, as long as `more()` returns true.
 *
 * Errors: those of the source.
 * Ends:   with the source, once `more()` returns false.
 */
export const repeatWhile = <T>(more: () => boolean): MonoTypeOperatorFunction<T> =>
  repeat({ delay: () => (more() ? of(true) : EMPTY) });
