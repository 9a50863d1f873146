import { catchError, defer, filter, map, merge, type Observable, of, type SchedulerLike, take, timer } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { KUBERNETES_VERSION } from '../../model/node/kubernetes-version.js';
import type { Probe } from '../../model/pod/pod.js';
import { HealthFailure } from '../../model/probes/health-failure.js';
import { failedHealthOutcome, healthOutcome, lateHealthOutcome } from '../../model/probes/health-outcome.js';
import { isOwnShortage } from '../../model/probes/own-shortage.js';
import { ProbeErrored } from '../../model/probes/probe-errored.js';
import type { CheckHealth } from '../ports/check-health.js';
import type { ProbeOutcome } from '../../model/probes/probe-outcome.js';
import type { ProbeTarget } from '../ports/probe-handlers.js';
import { hostOf } from './host-of.js';

/**
 * Probes a server by the gRPC health protocol. Only SERVING is a success; any failure of the request is a failure of the probe. A
 * failed connection ends the probe at once. The certificate of a server with TLS is not verified.
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
    const timeoutMs = target.timeoutSeconds * 1000;
    const answer$ = checkHealth({
      host: hostOf({}, target),
      port,
      isTls: mode === 'TLS',
      service,
      userAgent: `kube-probe/${KUBERNETES_VERSION}`,
      timeoutMs,
    }).pipe(
      filter((progress) => progress.kind === 'answered'),
      map(({ status }) => healthOutcome(status)),
      catchError((error: unknown) => {
        if (isOwnShortage(error)) throw new ProbeErrored(errorText(error), 'unknown', { cause: error });
        if (error instanceof HealthFailure) return of(failedHealthOutcome(error, timeoutMs));
        throw error;
      }),
    );
    const late$ = timer(timeoutMs, scheduler).pipe(map(() => lateHealthOutcome(timeoutMs)));
    return merge(answer$, late$).pipe(take(1));
  });
