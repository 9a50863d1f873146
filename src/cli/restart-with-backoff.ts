import { catchError, defer, of, type OperatorFunction, repeat, type SchedulerLike, timer } from 'rxjs';
import { errorText } from '../model/cri-error.js';

export interface RunFailed {
  readonly kind: 'failed';
  readonly problem: string;
  readonly retryInMs: number;
}

export interface RestartBackoff {
  readonly initialMs: number;
  readonly maxMs: number;
  readonly scheduler: SchedulerLike;
}

/**
 * Starts the source again whenever it fails, and says each time why and after how long: `initialMs`, doubling to `maxMs`. A
 * run of `2 * maxMs` was healthy and resets.
 *
 * Errors: none pass. Ends: never by itself.
 */
export const restartWithBackoff =
  <T>({ initialMs, maxMs, scheduler }: RestartBackoff): OperatorFunction<T, T | RunFailed> =>
  (source) =>
    defer(() => {
      let delayMs = 0;
      let startedAt = 0;
      return defer(() => {
        startedAt = scheduler.now();
        return source;
      }).pipe(
        catchError((error: unknown) => {
          const wasHealthy = scheduler.now() - startedAt >= 2 * maxMs;
          delayMs = delayMs === 0 || wasHealthy ? initialMs : Math.min(2 * delayMs, maxMs);
          return of<RunFailed>({ kind: 'failed', problem: errorText(error), retryInMs: delayMs });
        }),
        repeat({ delay: () => timer(delayMs, scheduler) }),
      );
    });
