import { asyncScheduler, defer, type Observable, type ObservableInput, repeat, type SchedulerLike, timer } from 'rxjs';

export interface Period {
  /** The time from the end of one run to the start of the next, in milliseconds; a function is called after each run. */
  readonly periodMs: number | (() => number);
  readonly scheduler?: SchedulerLike;
}

/**
 * Runs `work` at once, and again a period after the end of each run.
 *
 * Errors: those of `work`; recover inside `work`.
 * Ends:   never.
 */
export const every = <T>(
  { periodMs, scheduler = asyncScheduler }: Period,
  work: () => ObservableInput<T>,
): Observable<T> =>
  defer(work).pipe(repeat({ delay: () => timer(typeof periodMs === 'function' ? periodMs() : periodMs, scheduler) }));
