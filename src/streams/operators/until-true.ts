import {
  asyncScheduler,
  filter,
  ignoreElements,
  type Observable,
  type ObservableInput,
  type SchedulerLike,
  take,
  throwError,
  timeout,
} from 'rxjs';
import { every } from './every.js';

export interface Patience {
  /** The time from the end of one check to the next, in milliseconds. */
  readonly everyMs: number;
  /** The longest time until a check returns true, in milliseconds. */
  readonly withinMs: number;
  /** Makes the error of a wait that was too long. */
  readonly tooLate: () => Error;
  readonly scheduler?: SchedulerLike;
}

/**
 * Runs `check` at once and again `everyMs` after each end until it emits true, and completes.
 *
 * Errors: that of a check; `tooLate()` after `withinMs`, when the running check is cancelled.
 * Ends:   with the first true.
 */
export const untilTrue = (
  check: () => ObservableInput<boolean>,
  { everyMs, withinMs, tooLate, scheduler = asyncScheduler }: Patience,
): Observable<never> =>
  every({ periodMs: everyMs, scheduler }, check).pipe(
    filter((isTrue) => isTrue),
    take(1),
    timeout({ first: withinMs, with: () => throwError(tooLate), scheduler }),
    ignoreElements(),
  );
