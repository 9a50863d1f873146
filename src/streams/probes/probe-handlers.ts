import { type Observable, type SchedulerLike, throwError } from 'rxjs';
import { formatPod } from '../../model/pod/pod.js';
import type { CheckHealth } from '../ports/check-health.js';
import type { HttpRequest } from '../ports/http-request.js';
import type { ProbeHandlers, ProbeTarget } from '../ports/probe-handlers.js';
import type { ProbeOutcome } from '../../model/probes/probe-outcome.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import type { TcpConnect } from '../ports/tcp-connect.js';
import { execProbe } from './exec-probe.js';
import { grpcProbe } from './grpc-probe.js';
import { httpProbe } from './http-probe.js';
import { tcpProbe } from './tcp-probe.js';

/** The ports of probes. */
export interface ProbePorts {
  readonly runtime: Pick<RuntimeService, 'execSync'>;
  readonly httpRequest: HttpRequest;
  readonly tcpConnect: TcpConnect;
  readonly checkHealth: CheckHealth;
  readonly scheduler: SchedulerLike;
}

/** The features of probes that are alpha in the kubelet: a field behind a feature that is off has no effect. */
export interface ProbeFeatures {
  /** Gate GRPCContainerProbeTLS: `grpc.mode`. Default: false. */
  readonly grpcTls?: boolean;
  /** Gate H2CContainerProbe: `httpGet.protocol`. Default: false. */
  readonly http2?: boolean;
}

/**
 * Makes the handlers of the four kinds of probes. Probes share no connection and leave none open.
 *
 * Errors: of a probe, see `ProbeHandlers`.
 * Source: pkg/kubelet/prober/prober.go runProbe
 */
export const probeHandlers = (ports: ProbePorts, features: ProbeFeatures = {}): ProbeHandlers => ({
  probe: (target) => probe(ports, features, target),
});

const probe = (
  ports: ProbePorts,
  { grpcTls = false, http2 = false }: ProbeFeatures,
  target: ProbeTarget,
): Observable<ProbeOutcome> => {
  const { exec, httpGet, tcpSocket, grpc } = target.probe;
  if (exec) return execProbe(ports.runtime, exec, target);
  if (httpGet) {
    const { protocol, ...plain } = httpGet;
    return httpProbe(ports.httpRequest, http2 ? { ...plain, protocol } : plain, target);
  }
  if (tcpSocket) return tcpProbe(ports.tcpConnect, tcpSocket, target, ports.scheduler);
  if (grpc) {
    const { mode, ...plain } = grpc;
    return grpcProbe(ports.checkHealth, grpcTls ? { ...plain, mode } : plain, target, ports.scheduler);
  }
  return throwError(() => new Error(`missing probe handler for ${formatPod(target.pod)}:${target.container.name}`));
};
