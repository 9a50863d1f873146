import {
  asyncScheduler,
  catchError,
  defer,
  map,
  type Observable,
  type ObservableInput,
  of,
  repeat,
  type SchedulerLike,
  timeout,
  timer,
} from 'rxjs';

export interface PollTiming {
  /** From the end of one run to the start of the next. */
  readonly periodMs: number;
  /** How long a run may take to give its value. */
  readonly timeoutMs: number;
  readonly scheduler?: SchedulerLike;
}

export type Polled<T> =
  { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Runs at once, then `periodMs` after each run has ended, however it ended. A run past `timeoutMs` is unsubscribed.
 *
 * Errors: none; a failed run is a value.
 * Ends:   never.
 */
export const poll = <T>(
  once: () => ObservableInput<T>,
  { periodMs, timeoutMs, scheduler = asyncScheduler }: PollTiming,
): Observable<Polled<T>> =>
  defer(once).pipe(
    timeout({ first: timeoutMs, scheduler }),
    map((value): Polled<T> => ({ kind: 'ok', value })),
    catchError((error: unknown) => of<Polled<T>>({ kind: 'failed', error })),
    repeat({ delay: () => timer(periodMs, scheduler) }),
  );
