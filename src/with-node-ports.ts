import { defer, finalize, forkJoin, map, type Observable, of, type SchedulerLike, switchMap, tap } from 'rxjs';
import type { KubeletPorts } from './kubelet.js';
import type { CgroupDriver } from './model/cgroups/cgroup-name.js';
import type { CgroupSettings } from './model/cgroups/cgroup-settings.js';
import { canMount } from './model/cri/mount-ability.js';
import { errorText } from './model/cri-error.js';
import { criClient } from './runtime/cri-client.js';
import { dockerConfigPlaces, nodeCredentials } from './images/node-credentials.js';
import { cgroupCapacity, hostCgroups } from './host/cgroups/host-cgroups.js';
import { diskSpace } from './host/disk-space.js';
import { logFiles } from './host/log-files.js';
import { monotonicScheduler } from './host/monotonic-scheduler.js';
import { nodeFiles } from './host/node-files.js';
import { probeRecordFiles } from './host/probe-record-files.js';
import { pullRecordFiles } from './images/pull-record-files.js';
import { podFiles } from './host/pod-files.js';
import { type NodeSettings, readNodeFacts } from './host/read-node-facts.js';
import { cgroupDriver } from './streams/cgroups/cgroup-driver.js';
import { noCredentials } from './streams/no-credentials.js';
import { checkHealth } from './network/check-health.js';
import { httpRequest } from './network/http-request.js';
import { tcpConnect } from './network/tcp-connect.js';
import { noMetrics } from './streams/no-metrics.js';
import { retryWithBackoff } from './streams/operators/retry-with-backoff.js';
import { probeHandlers } from './streams/probes/probe-handlers.js';
import type { Logger, Metrics, RecordEvent, RecordJournal } from './streams/ports.js';

export interface NodePortsOptions {
  /** `unix:///path` of the runtime's socket. */
  readonly endpoint: string;
  /** Of the image service; the runtime's unless given. */
  readonly imageEndpoint?: string;
  /** What a call of the runtime may take; two minutes unless given. */
  readonly requestTimeoutMs?: number;
  readonly node: NodeSettings;
  /** How pods are put into cgroups of their own; they stay where the runtime puts them unless given. */
  readonly cgroups?: {
    /** For a runtime that does not say which one it uses. */
    readonly driver: CgroupDriver;
    readonly settings: CgroupSettings;
  };
  /** Keeps nothing unless given. */
  readonly record?: RecordJournal;
  /** Hears nothing unless given. */
  readonly recordEvent?: RecordEvent;
  readonly metrics?: Metrics;
  /** Says nothing unless given. */
  readonly log?: Logger;
  /** `monotonicScheduler` unless given. */
  readonly scheduler?: SchedulerLike;
}

/**
 * What `use` makes of the ports of this machine, over the runtime behind a socket. It is asked once the runtime has answered;
 * until then the runtime is asked again after 100 ms, doubling to 5 s, with a warning each time. The connection is closed
 * at the end.
 *
 * Errors: those of `use`; cgroups that this machine does not have; throws for an endpoint that is not a unix socket.
 * Ends:   with what `use` returned.
 */
export const withNodePorts = <T>(
  {
    endpoint,
    imageEndpoint = endpoint,
    requestTimeoutMs = 120_000,
    node,
    cgroups,
    record = countOnly(),
    recordEvent = () => undefined,
    metrics = noMetrics,
    log = silent,
    scheduler = monotonicScheduler,
  }: NodePortsOptions,
  use: (ports: KubeletPorts) => Observable<T>,
): Observable<T> =>
  defer(() => {
    const observe = (operation: string, durationMs: number, error?: unknown): void =>
      metrics.runtimeOperation(operation, durationMs / 1000, error !== undefined);
    const { runtime, images, close } = criClient({ endpoint, imageEndpoint, requestTimeoutMs, observe });
    const ports: Omit<KubeletPorts, 'runtimeName' | 'node'> = {
      ...{ runtime, images, record, recordEvent, metrics, log, scheduler },
      files: nodeFiles,
      logFiles,
      diskSpace,
      podFiles,
      httpRequest: httpRequest(),
      probeHandlers: probeHandlers({ runtime, httpRequest: httpRequest(), tcpConnect, checkHealth, scheduler }),
      ...noCredentials,
      pullRecords: pullRecordFiles(node.rootDirectory, log),
      probeRecords: probeRecordFiles(node.rootDirectory, log),
      nodeCredentials: nodeCredentials(dockerConfigPlaces(node.rootDirectory), { log, scheduler }),
      wallClock: () => Date.now(),
      random: Math.random,
    };
    const runtimeFacts$ = forkJoin([runtime.version({}), runtime.status({ verbose: true })]).pipe(
      map(([{ runtimeName }, { info, features }]) => ({
        runtimeName,
        canMount: canMount(info),
        hasSupplementalGroupsPolicy: features?.supplementalGroupsPolicy ?? false,
      })),
    );
    const cgroupDriver$ = cgroups ? cgroupDriver(runtime, cgroups.driver, { log, scheduler }) : of(undefined);
    return forkJoin([runtimeFacts$, cgroupDriver$]).pipe(
      tap({ error: (error: unknown) => log.warn({ error: errorText(error) }, 'waiting for the runtime') }),
      retryWithBackoff({ initialMs: 100, maxMs: 5000, scheduler }),
      switchMap(([{ runtimeName, ...facts }, driver]) => {
        const nodeCgroups = cgroups &&
          driver && { cgroups: hostCgroups(driver), settings: cgroups.settings, capacity: cgroupCapacity() };
        return use({ ...ports, runtimeName, node: readNodeFacts(node, log, facts), nodeCgroups });
      }),
      finalize(close),
    );
  });

const nothing = (): void => undefined;
const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Names entries that nobody keeps. */
const countOnly = (): RecordJournal => {
  let count = 0;
  return () => `entry-${++count}`;
};
