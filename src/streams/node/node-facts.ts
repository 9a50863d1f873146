import { catchError, defer, forkJoin, map, type Observable, of, type SchedulerLike, tap, timeout } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { needsLookup } from '../../model/node/node-addresses.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import type { NodeStatusFacts } from '../../model/node/node-status.js';
import { reportWithShutdown } from '../../model/shutdown/shutting-down.js';
import type { Logger } from '../ports/logger.js';
import type { LookupHost } from '../ports/lookup-host.js';
import type { ReadMachine } from '../ports/read-machine.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import type { WallClock } from '../ports/wall-clock.js';
import type { RuntimeHealth } from '../runtime-health/runtime-health.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';

/** The time limit for the runtime's version and for the resolver, in milliseconds. After it the last answer counts. */
export const FACT_TIMEOUT_MS = 2_000;

export interface NodeFactsPorts {
  readonly runtime: Pick<RuntimeService, 'version'>;
  readonly runtimeName: string;
  readonly readMachine: ReadMachine;
  readonly lookupHost: LookupHost;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/** The state of the loop that a Node reports. */
export interface LoopFacts {
  /** Its images and pressure are those of the status of the Node, which shows a shutdown of the machine. */
  readonly state: Pick<KubeletState, 'images' | 'value'>;
  readonly health: Pick<RuntimeHealth, 'report'>;
}

/**
 * Reads all facts that a Node reports, on each subscribe; emits once. If the runtime or the resolver does not answer in time, its last
 * answer counts.
 *
 * Errors: the machine cannot be read.
 */
export const nodeFacts = (
  ports: NodeFactsPorts,
  settings: Pick<NodeObjectSettings, 'nodeName' | 'nodeIps' | 'externalCloudProvider'>,
  { state, health }: LoopFacts,
): Observable<NodeStatusFacts> => {
  const { runtime, runtimeName, readMachine, lookupHost, log, scheduler, wallClock } = ports;
  const lastKnown = <T>(ask: () => Observable<T>, initial: T, what: string): Observable<T> => {
    let last = initial;
    return defer(ask).pipe(
      timeout({ first: FACT_TIMEOUT_MS, scheduler }),
      tap((value) => (last = value)),
      catchError((error: unknown) => {
        log.debug({ error: errorText(error) }, `cannot read ${what}, the last answer counts`);
        return of(last);
      }),
    );
  };
  const version$ = lastKnown(
    () => runtime.version({}).pipe(map(({ runtimeVersion }) => runtimeVersion)),
    'Unknown',
    'the version of the runtime',
  );
  const { nodeName } = settings;
  const lookedUp$ = needsLookup(settings)
    ? lastKnown(() => lookupHost(nodeName), [], 'the addresses of the node')
    : of([]);
  return forkJoin({ machine: readMachine(), lookedUp: lookedUp$, version: version$ }).pipe(
    map(({ machine, lookedUp, version }) => ({
      machine,
      lookedUp,
      runtimeVersion: `${runtimeName}://${version}`,
      images: state.images,
      runtime: reportWithShutdown(health.report(), state.value.isShuttingDown),
      pressure: state.value.pressure,
      now: wallClock(),
    })),
  );
};
