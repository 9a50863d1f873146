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
import { errorText } from '../../model/cri/cri-error.js';
import { hostAndPort } from '../../model/config/http-get.js';
import { KUBERNETES_VERSION } from '../../model/node/kubernetes-version.js';
import type { Probe } from '../../model/pod/pod.js';
import { HealthFailure } from '../../model/probes/health-failure.js';
import {
  failedHealthOutcome,
  healthOutcome,
  lateHealthOutcome,
  unreachedHealthOutcome,
} from '../../model/probes/health-outcome.js';
import { isOwnShortage } from '../../model/probes/own-shortage.js';
import { ProbeErrored } from '../../model/probes/probe-errored.js';
import { type Backoff, nextDelay } from '../../model/values/back-off.js';
import type { CheckHealth } from '../ports/check-health.js';
import type { ProbeOutcome } from '../../model/probes/probe-outcome.js';
import type { ProbeTarget } from '../ports/probe-handlers.js';
import { hostOf } from './host-of.js';

/**
 * The wait between a failed connection and the next attempt. Source: google.golang.org/grpc/backoff DefaultConfig, without its
 * jitter
 */
export const RECONNECT: Backoff = { initialMs: 1000, maxMs: 120_000, factor: 1.6 };

/**
 * Probes a server by the gRPC health protocol. Only SERVING is a success; any failure of the request is a failure of the probe. A
 * failed connection is retried until the time limit, so that a closed port fails only then. The certificate of a server with TLS is
 * not verified.
 *
 * Errors: `ProbeErrored` if the node lacks a resource for the request; a pod without an address.
 * Source: pkg/probe/grpc/grpc.go
 */
export const grpcProbe = (
  checkHealth: CheckHealth,
  { port, service = '', mode }: NonNullable<Probe['grpc']>,
  target: ProbeTarget,
  scheduler: SchedulerLike,
): Observable<ProbeOutcome> =>
  defer(() => {
    const address = { host: hostOf({}, target), port };
    const timeoutMs = target.timeoutSeconds * 1000;
    const isTls = mode === 'TLS';
    let isConnected = false;
    /** The lack of a resource that stopped the last attempt. */
    let shortage: ProbeErrored | undefined;
    const noteShortage = (error: unknown): void => {
      shortage = isOwnShortage(error) ? new ProbeErrored(errorText(error), 'unknown', { cause: error }) : undefined;
    };
    const answer$ = checkHealth({
      ...address,
      isTls,
      service,
      userAgent: `kube-probe/${KUBERNETES_VERSION}`,
      timeoutMs,
    }).pipe(
      tap({ next: () => (isConnected = true), error: noteShortage }),
      filter((progress) => progress.kind === 'answered'),
      map(({ status }) => healthOutcome(status)),
      retry({
        delay: (error: unknown, attempt) =>
          error instanceof HealthFailure && error.stage === 'connect'
            ? timer(nextDelay(RECONNECT, attempt), scheduler)
            : throwError(() => error),
      }),
      catchError((error: unknown) => {
        if (shortage) throw shortage;
        if (error instanceof HealthFailure) return of(failedHealthOutcome(error, timeoutMs));
        throw error;
      }),
    );
    const late$ = timer(timeoutMs, scheduler).pipe(
      map(() => {
        if (shortage && !isConnected) throw shortage;
        return isConnected ? lateHealthOutcome(timeoutMs) : unreachedHealthOutcome(hostAndPort(address), timeoutMs);
      }),
    );
    return merge(answer$, late$).pipe(take(1));
  });
