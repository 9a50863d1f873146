import { catchError, defer, forkJoin, map, type Observable, of, type SchedulerLike, tap, timeout } from 'rxjs';
import type { Image } from '../../generated/runtime/v1/api.js';
import { errorText } from '../../model/cri-error.js';
import { needsLookup } from '../../model/node/node-addresses.js';
import type { NodePressure } from '../../model/node/node-conditions.js';
import type { NodeObjectSettings } from '../../model/node/node-settings.js';
import type { NodeStatusFacts } from '../../model/node/node-status.js';
import type { RuntimeReport } from '../../model/node/runtime-report.js';
import type { Logger, LookupHost, ReadMachine, RuntimeService, WallClock } from '../ports.js';

/** Nobody waits longer for the runtime's version or for a resolver: what they said last stands. Milliseconds. */
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

/** What the loop knows that a Node tells. */
export interface LoopFacts {
  /** Largest first. */
  readonly images: () => readonly Image[];
  readonly runtimeReport: () => RuntimeReport;
  /** None of anything unless given: then nobody here stops pods for it. */
  readonly pressure?: () => NodePressure;
}

const NO_PRESSURE: NodePressure = { memory: false, disk: false, pid: false };

/**
 * Reads everything that a Node tells, each time it is subscribed; emits once. Where the runtime or the resolver does not answer in
 * time, what it said last stands.
 *
 * Errors: the machine cannot be read.
 */
export const nodeFacts = (
  ports: NodeFactsPorts,
  settings: Pick<NodeObjectSettings, 'nodeName' | 'nodeIps' | 'externalCloudProvider'>,
  { images, runtimeReport, pressure = () => NO_PRESSURE }: LoopFacts,
): Observable<NodeStatusFacts> => {
  const { runtime, runtimeName, readMachine, lookupHost, log, scheduler, wallClock } = ports;
  const lastKnown = <T>(ask: () => Observable<T>, initial: T, what: string): Observable<T> => {
    let last = initial;
    return defer(ask).pipe(
      timeout({ first: FACT_TIMEOUT_MS, scheduler }),
      tap((value) => (last = value)),
      catchError((error: unknown) => {
        log.debug({ error: errorText(error) }, `${what} is as it was last`);
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
    ? lastKnown(() => lookupHost(nodeName), [], 'what the resolver says of the node')
    : of([]);
  return forkJoin({ machine: readMachine(), lookedUp: lookedUp$, version: version$ }).pipe(
    map(({ machine, lookedUp, version }) => ({
      machine,
      lookedUp,
      runtimeVersion: `${runtimeName}://${version}`,
      images: images(),
      runtime: runtimeReport(),
      pressure: pressure(),
      now: wallClock(),
    })),
  );
};
