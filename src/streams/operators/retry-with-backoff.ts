import { asyncScheduler, defer, type MonoTypeOperatorFunction, retry, type SchedulerLike, tap, timer } from 'rxjs';
import { type Backoff, failuresInRow, nextDelay } from '../../model/values/back-off.js';

export interface RetryTiming extends Pick<Backoff, 'initialMs' | 'maxMs'> {
  readonly scheduler?: SchedulerLike;
}

/**
 * Subscribes to a failed source again after `initialMs`, doubling to `maxMs`. The waits start over after a run of `2 * maxMs`.
 *
 * Errors: none.
 * Ends:   with the source.
 */
export const retryWithBackoff =
  <T>({ initialMs, maxMs, scheduler = asyncScheduler }: RetryTiming): MonoTypeOperatorFunction<T> =>
  (source) =>
    defer(() => {
      const backoff: Backoff = { initialMs, maxMs, resetAfterMs: 2 * maxMs };
      let failures = 0;
      let startedAt = 0;
      const delay = () => {
        failures = failuresInRow(backoff, failures, scheduler.now() - startedAt);
        return timer(nextDelay(backoff, failures), scheduler);
      };
      return source.pipe(tap({ subscribe: () => (startedAt = scheduler.now()) }), retry({ delay }));
    });
