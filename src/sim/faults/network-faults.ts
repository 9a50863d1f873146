import { defer, type Observable, NEVER, switchMap, throwError, timeout, timer } from 'rxjs';
import { HttpFailure } from '../../model/http-failure.js';
import { urlOf } from '../../model/http-get.js';
import type { CheckHealth, HttpRequest, TcpConnect } from '../../streams/ports.js';
import type { NetworkFault } from './fault.js';
import { arm, type FaultStage, strikes } from './fault-stage.js';

/** What the agent asks over the network of the pods. */
export interface NetworkPorts {
  readonly httpRequest: HttpRequest;
  readonly tcpConnect: TcpConnect;
  readonly checkHealth: CheckHealth;
}

/** After so long a connection that does not come about is given up. */
const DIAL_MS = 30_000;

/** Puts faults between the agent and the servers in the pods. Requests keep the time that they are given. */
export const faultyNetwork = (
  faults: readonly NetworkFault[],
  stage: FaultStage,
  ports: NetworkPorts,
): NetworkPorts => {
  if (faults.length === 0) return ports;
  const { scheduler } = stage;
  const armed = arm(faults, stage);
  /** Undefined when nothing arrives. */
  const delayMs = (): number | undefined => {
    let totalMs = 0;
    for (const one of armed) {
      if (!strikes(one, stage)) continue;
      if (one.fault.kind === 'network-silent') return undefined;
      totalMs += one.draw.integer(one.fault.minMs, one.fault.maxMs);
    }
    return totalMs;
  };
  const late = <T>(source: Observable<T>): Observable<T> =>
    defer(() => {
      const ms = delayMs();
      if (ms === 0) return source;
      return ms === undefined ? NEVER : timer(ms, scheduler).pipe(switchMap(() => source));
    });
  return {
    httpRequest: (request, options) => {
      const detail = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
      const tooLate = () => throwError(() => new HttpFailure('request', `Get "${urlOf(request)}": ${detail}`));
      const answer$ = late(ports.httpRequest(request, options));
      return answer$.pipe(timeout({ first: options.timeoutMs ?? DIAL_MS, scheduler, with: tooLate }));
    },
    tcpConnect: (address) => late(ports.tcpConnect(address)),
    checkHealth: (request) => late(ports.checkHealth(request)),
  };
};
