import { catchError, defer, of, type OperatorFunction, type SchedulerLike } from 'rxjs';
import { type Backoff, failuresInRow, nextDelay } from '../../model/values/back-off.js';
import { errorText } from '../../model/cri/cri-error.js';
import { every } from '../../streams/operators/every.js';

export interface RunFailed {
  readonly kind: 'failed';
  readonly problem: string;
  readonly retryInMs: number;
}

export interface RestartTiming extends Pick<Backoff, 'initialMs' | 'maxMs'> {
  readonly scheduler: SchedulerLike;
}

/**
 * Starts the source again whenever it fails, and reports the reason and the wait each time: `initialMs`, doubling to
 * `maxMs`. A run of `2 * maxMs` resets the back-off.
 *
 * Errors: none pass. Ends: never by itself.
 */
export const restartWithBackoff =
  <T>({ initialMs, maxMs, scheduler }: RestartTiming): OperatorFunction<T, T | RunFailed> =>
  (source) =>
    defer(() => {
      const backoff: Backoff = { initialMs, maxMs, resetAfterMs: 2 * maxMs };
      let failures = 0;
      let delayMs = 0;
      let startedAt = 0;
      return every({ periodMs: () => delayMs, scheduler }, () => {
        startedAt = scheduler.now();
        return source.pipe(
          catchError((error: unknown) => {
            failures = failuresInRow(backoff, failures, scheduler.now() - startedAt);
            delayMs = nextDelay(backoff, failures);
            return of<RunFailed>({ kind: 'failed', problem: errorText(error), retryInMs: delayMs });
          }),
        );
      });
    });
