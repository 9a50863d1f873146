import { catchError, type Observable, of, type OperatorFunction, type SchedulerLike } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { every } from '../../streams/operators/every.js';

export interface ListenFailed {
  readonly kind: 'failed';
  readonly problem: string;
  readonly retryInMs: number;
}

export const RETRY_MS = 5000;

/**
 * Passes on the events of the server; a failure becomes a value, and the server is started again 5 s later.
 *
 * Errors: none pass. Ends: never by itself.
 * Source: the healthz server of cmd/kubelet/app/server.go.
 */
export const retryListening =
  <T>(scheduler: SchedulerLike): OperatorFunction<T, T | ListenFailed> =>
  (source): Observable<T | ListenFailed> =>
    every({ periodMs: RETRY_MS, scheduler }, () =>
      source.pipe(
        catchError((error: unknown) =>
          of<ListenFailed>({ kind: 'failed', problem: errorText(error), retryInMs: RETRY_MS }),
        ),
      ),
    );
