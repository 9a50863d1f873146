import { defer, merge, type MonoTypeOperatorFunction, type ObservableInput, queueScheduler, subscribeOn } from 'rxjs';

/**
 * Begins each subscription with what `present` returns then, and goes on with the values of a hot source. Unlike after `startWith`, no value
 * is lost that a subscriber causes while it receives the beginning: the source is subscribed first. If the source is emitted by
 * `queueScheduler`, the beginning comes behind the values that wait in the queue, and has them in it.
 *
 * Errors: those of the source, and what `present` throws.
 * Ends:   with the source.
 */
export const startWithPresent =
  <T>(present: () => ObservableInput<T>): MonoTypeOperatorFunction<T> =>
  (source$) =>
    merge(source$, defer(present)).pipe(subscribeOn(queueScheduler));
