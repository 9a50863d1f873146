import {
  catchError,
  defer,
  filter,
  map,
  merge,
  type Observable,
  of,
  retry,
  type SchedulerLike,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { hostAndPort } from '../../model/http-get.js';
import { KUBERNETES_VERSION } from '../../model/kubernetes-version.js';
import type { Probe } from '../../model/pod.js';
import { HealthFailure } from '../../model/probes/health-failure.js';
import {
  failedHealthOutcome,
  healthOutcome,
  lateHealthOutcome,
  unreachedHealthOutcome,
} from '../../model/probes/health-outcome.js';
import type { CheckHealth, ProbeOutcome, ProbeTarget } from '../ports.js';
import { hostOf } from './host-of.js';

/**
 * Between a connection that did not come about and the next try. Source: google.golang.org/grpc/backoff DefaultConfig, without
 * its jitter
 */
export const GRPC_RECONNECT = { initialMs: 1000, factor: 1.6 };

/**
 * Asks a server by the health protocol of gRPC; only SERVING is a success, and whatever goes wrong is a failure. A connection
 * that does not come about is tried again until the time is up: a closed port costs all of it.
 *
 * Errors: a pod without an address.
 * Source: pkg/probe/grpc/grpc.go
 */
export const grpcProbe = (
  checkHealth: CheckHealth,
  { port, service = '' }: NonNullable<Probe['grpc']>,
  target: ProbeTarget,
  scheduler: SchedulerLike,
): Observable<ProbeOutcome> =>
  defer(() => {
    const address = { host: hostOf({}, target), port };
    const timeoutMs = target.timeoutSeconds * 1000;
    let isConnected = false;
    const answer$ = checkHealth({ ...address, service, userAgent: `kube-probe/${KUBERNETES_VERSION}`, timeoutMs }).pipe(
      tap(() => (isConnected = true)),
      filter((progress) => progress.kind === 'answered'),
      map(({ status }) => healthOutcome(status)),
      retry({
        delay: (error: unknown, attempt) =>
          error instanceof HealthFailure && error.stage === 'connect'
            ? timer(GRPC_RECONNECT.initialMs * GRPC_RECONNECT.factor ** (attempt - 1), scheduler)
            : throwError(() => error),
      }),
      catchError((error: unknown) => {
        if (error instanceof HealthFailure) return of(failedHealthOutcome(error, timeoutMs));
        throw error;
      }),
    );
    const late$ = timer(timeoutMs, scheduler).pipe(
      map(() => (isConnected ? lateHealthOutcome(timeoutMs) : unreachedHealthOutcome(hostAndPort(address), timeoutMs))),
    );
    return merge(answer$, late$).pipe(take(1));
  });
