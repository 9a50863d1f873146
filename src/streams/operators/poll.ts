import {
  asyncScheduler,
  catchError,
  defer,
  map,
  type Observable,
  type ObservableInput,
  of,
  type SchedulerLike,
  timeout,
} from 'rxjs';
import { every } from './every.js';

export interface PollTiming {
  /** The time from the end of one run to the start of the next, in milliseconds. */
  readonly periodMs: number;
  /** The longest time until the first value of a run, in milliseconds. */
  readonly timeoutMs: number;
  readonly scheduler?: SchedulerLike;
}

export type Polled<T> =
  { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Runs `once` at once, and again `periodMs` after each run has completed or failed. A run without a value after `timeoutMs` is
 * unsubscribed and has failed.
 *
 * Errors: none; a failed run is a value.
 * Ends:   never.
 */
export const poll = <T>(
  once: () => ObservableInput<T>,
  { periodMs, timeoutMs, scheduler = asyncScheduler }: PollTiming,
): Observable<Polled<T>> =>
  every({ periodMs, scheduler }, () =>
    defer(once).pipe(
      timeout({ first: timeoutMs, scheduler }),
      map((value): Polled<T> => ({ kind: 'ok', value })),
      catchError((error: unknown) => of<Polled<T>>({ kind: 'failed', error })),
    ),
  );
