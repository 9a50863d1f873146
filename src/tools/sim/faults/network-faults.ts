import { defer, NEVER, type Observable, of, switchMap, throwError, timeout, timer } from 'rxjs';
import { HttpFailure } from '../../../model/config/http-failure.js';
import { urlOf } from '../../../model/config/http-get.js';
import type { HttpRequest } from '../../../streams/ports/http-request.js';
import type { ProbeHandlers } from '../../../streams/ports/probe-handlers.js';
import type { ProbeOutcome } from '../../../model/probes/probe-outcome.js';
import { type ArmedFault, type FaultSide, strikes } from './armed-fault.js';
import type { NetworkFault } from './fault.js';

/** The time after which an attempt to connect is cancelled. */
const DIAL_MS = 30_000;

/** Puts faults between the agent and the servers in the pods. Requests keep their deadlines. */
export interface FaultyNetwork {
  readonly httpRequest: (ask: HttpRequest) => HttpRequest;
  /** The faults of probes over the network. */
  readonly probe: (ask: ProbeHandlers['probe']) => ProbeHandlers['probe'];
}

export const faultyNetwork = (
  armed: readonly ArmedFault<NetworkFault>[],
  { scheduler, startMs }: FaultSide,
): FaultyNetwork => {
  /** Undefined if nothing arrives. */
  const delayMs = (): number | undefined => {
    let totalMs = 0;
    for (const one of armed) {
      if (!strikes(one, scheduler.now() - startMs)) continue;
      if (one.fault.kind === 'network-silent') return undefined;
      totalMs += one.draw.integer(one.fault.minMs, one.fault.maxMs);
    }
    return totalMs;
  };
  const within = <T>(limitMs: number, source: Observable<T>, tooLate: () => Observable<T>): Observable<T> =>
    defer(() => {
      const ms = delayMs();
      if (ms === 0) return source;
      const late$ = ms === undefined ? NEVER : timer(ms, scheduler).pipe(switchMap(() => source));
      return late$.pipe(timeout({ first: limitMs, scheduler, with: tooLate }));
    });
  return {
    httpRequest: (ask) => (request, options) => {
      const { timeoutMs } = options;
      const detail = timeoutMs === undefined ? NO_CONNECTION : TOO_LATE;
      return within(timeoutMs ?? DIAL_MS, ask(request, options), () =>
        throwError(() => new HttpFailure('request', `Get "${urlOf(request)}": ${detail}`)),
      );
    },
    probe: (ask) => (target) => within(target.timeoutSeconds * 1000, ask(target), () => of(LATE_PROBE)),
  };
};

const NO_CONNECTION = 'dial tcp: i/o timeout';
const TOO_LATE = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
const LATE_PROBE: ProbeOutcome = { result: 'failure', output: 'i/o timeout' };
