import { catchError, type Observable, of, type OperatorFunction, repeat, type SchedulerLike, timer } from 'rxjs';
import { errorText } from '../model/cri-error.js';

export interface ListenFailed {
  readonly kind: 'failed';
  readonly problem: string;
  readonly retryInMs: number;
}

const RETRY_MS = 5000;

/**
 * Passes on what the server says; a failure becomes a value, and 5 s later the server is started again.
 *
 * Errors: none pass. Ends: never by itself.
 * Source: the healthz server of cmd/kubelet/app/server.go.
 */
export const retryListening =
  <T>(scheduler: SchedulerLike): OperatorFunction<T, T | ListenFailed> =>
  (source): Observable<T | ListenFailed> =>
    source.pipe(
      catchError((error: unknown) =>
        of<ListenFailed>({ kind: 'failed', problem: errorText(error), retryInMs: RETRY_MS }),
      ),
      repeat({ delay: () => timer(RETRY_MS, scheduler) }),
    );
