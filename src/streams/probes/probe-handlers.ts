import { type Observable, type SchedulerLike, throwError } from 'rxjs';
import { formatPod } from '../../model/pod.js';
import type {
  CheckHealth,
  HttpRequest,
  ProbeHandlers,
  ProbeOutcome,
  ProbeTarget,
  RuntimeService,
  TcpConnect,
} from '../ports.js';
import { execProbe } from './exec-probe.js';
import { grpcProbe } from './grpc-probe.js';
import { httpProbe } from './http-probe.js';
import { tcpProbe } from './tcp-probe.js';

/** What probes ask through. */
export interface ProbePorts {
  readonly runtime: Pick<RuntimeService, 'execSync'>;
  readonly httpRequest: HttpRequest;
  readonly tcpConnect: TcpConnect;
  readonly checkHealth: CheckHealth;
  readonly scheduler: SchedulerLike;
}

/**
 * The four ways to ask a container how it is. No two probes share a connection, and none leaves one open.
 *
 * Errors: of a probe, see `ProbeHandlers`.
 * Source: pkg/kubelet/prober/prober.go runProbe
 */
export const probeHandlers = (ports: ProbePorts): ProbeHandlers => ({ probe: (target) => ask(ports, target) });

const ask = (ports: ProbePorts, target: ProbeTarget): Observable<ProbeOutcome> => {
  const { exec, httpGet, tcpSocket, grpc } = target.probe;
  if (exec) return execProbe(ports.runtime, exec, target);
  if (httpGet) return httpProbe(ports.httpRequest, httpGet, target);
  if (tcpSocket) return tcpProbe(ports.tcpConnect, tcpSocket, target, ports.scheduler);
  if (grpc) return grpcProbe(ports.checkHealth, grpc, target, ports.scheduler);
  return throwError(() => new Error(`missing probe handler for ${formatPod(target.pod)}:${target.container.name}`));
};
