import {
  asyncScheduler,
  defer,
  filter,
  ignoreElements,
  type Observable,
  type ObservableInput,
  repeat,
  type SchedulerLike,
  take,
  throwError,
  timeout,
  timer,
} from 'rxjs';

export interface Patience {
  /** Between the end of one look and the next. */
  readonly everyMs: number;
  readonly withinMs: number;
  /** What it was waited for in vain. */
  readonly tooLate: () => Error;
  readonly scheduler?: SchedulerLike;
}

/**
 * Looks at once and then every `everyMs` until it is so, and completes.
 *
 * Errors: that of a look; `tooLate` after `withinMs`, when the look in flight is given up.
 */
export const untilTrue = (
  look: () => ObservableInput<boolean>,
  { everyMs, withinMs, tooLate, scheduler = asyncScheduler }: Patience,
): Observable<never> =>
  defer(look).pipe(
    repeat({ delay: () => timer(everyMs, scheduler) }),
    filter((isSo) => isSo),
    take(1),
    timeout({ first: withinMs, with: () => throwError(tooLate), scheduler }),
    ignoreElements(),
  );
