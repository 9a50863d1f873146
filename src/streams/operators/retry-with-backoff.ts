import { asyncScheduler, defer, type MonoTypeOperatorFunction, retry, type SchedulerLike, tap, timer } from 'rxjs';

export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
  readonly scheduler?: SchedulerLike;
}

/**
 * Resubscribes after `initialMs`, doubling to `maxMs`; a run of `2 * maxMs` was healthy and resets.
 *
 * Errors: none pass.
 */
export const retryWithBackoff =
  <T>({ initialMs, maxMs, scheduler = asyncScheduler }: Backoff): MonoTypeOperatorFunction<T> =>
  (source) =>
    defer(() => {
      let delayMs = 0;
      let startedAt = 0;
      const delay = () => {
        const wasHealthy = scheduler.now() - startedAt >= 2 * maxMs;
        delayMs = delayMs === 0 || wasHealthy ? initialMs : Math.min(2 * delayMs, maxMs);
        return timer(delayMs, scheduler);
      };
      return source.pipe(tap({ subscribe: () => (startedAt = scheduler.now()) }), retry({ delay }));
    });
