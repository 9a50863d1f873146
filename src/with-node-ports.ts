import { defer, finalize, forkJoin, map, type Observable, of, type SchedulerLike, switchMap, tap } from 'rxjs';
import type { KubeletPorts } from './kubelet-options.js';
import type { CgroupDriver } from './model/cgroups/cgroup-name.js';
import type { CgroupSettings } from './model/cgroups/cgroup-settings.js';
import { canMount } from './model/cri/mount-ability.js';
import { keepsStarts, sharesNetwork } from './model/cri/declared-by-runtime.js';
import { unappliedByRuntime } from './model/manifest/security-fields.js';
import { errorText } from './model/cri/cri-error.js';
import { isShortage } from './model/values/file-error.js';
import { criClient } from './runtime/cri-client.js';
import { dockerConfigPlaces, nodeCredentials } from './images/node-credentials.js';
import { cgroupCapacity, hostCgroups } from './host/cgroups/host-cgroups.js';
import { oomLog } from './host/facts/oom-log.js';
import { diskSpace } from './host/facts/disk-space.js';
import { logind } from './host/logind/logind.js';
import { logFiles } from './host/logs/log-files.js';
import { monotonicScheduler } from './host/monotonic-scheduler.js';
import { nodeFiles } from './host/files/node-files.js';
import { probeRecordFiles } from './host/files/probe-record-files.js';
import { pullRecordFiles } from './images/pull-record-files.js';
import { checkpointFiles } from './host/files/checkpoint-files.js';
import { shutdownStateFile } from './host/files/shutdown-state-file.js';
import { podFiles } from './host/files/pod-files.js';
import { volumeFiles } from './host/volumes/volume-files.js';
import { type NodeSettings, readNodeFacts } from './host/facts/read-node-facts.js';
import { cgroupDriver } from './streams/cgroups/cgroup-driver.js';
import { noCredentials } from './streams/ports/credential-ports.js';
import { machineFacts } from './host/facts/machine-facts.js';
import { usageReader } from './host/stats/usage-reader.js';
import { kubepodsCgroup } from './model/cgroups/pod-cgroup-name.js';
import type { SystemCgroups } from './model/stats/assemble-sample.js';
import { evictionFigures } from './streams/stats/eviction-figures.js';
import { checkHealth } from './network/check-health.js';
import { httpRequest } from './network/http-request.js';
import { tcpConnect } from './network/tcp-connect.js';
import { noMetrics } from './streams/ports/metrics.js';
import { retryWithBackoff } from './streams/operators/retry-with-backoff.js';
import { type ProbeFeatures, probeHandlers } from './streams/probes/probe-handlers.js';
import type { Logger } from './streams/ports/logger.js';
import type { Metrics } from './streams/ports/metrics.js';
import type { RecordEvent } from './streams/ports/record-event.js';
import type { RecordJournal } from './streams/ports/record-journal.js';
import type { RuntimeStats } from './streams/ports/runtime-stats.js';
import type { StreamingService } from './streams/ports/streaming-service.js';

export interface NodePortsOptions {
  /** `unix:///path` of the runtime's socket. */
  readonly endpoint: string;
  /** The socket of the image service. Default: `endpoint`. */
  readonly imageEndpoint?: string;
  /** The time limit of a call to the runtime. Default: two minutes. */
  readonly requestTimeoutMs?: number;
  readonly node: NodeSettings;
  /** The settings of cgroups for pods. Default: pods stay in the cgroups of the runtime. */
  readonly cgroups?: {
    /** The driver, if the runtime does not report one. */
    readonly driver: CgroupDriver;
    readonly settings: CgroupSettings;
  };
  /** The alpha features of probes. Default: none. */
  readonly probes?: ProbeFeatures;
  /** Default: entries are not kept. */
  readonly record?: RecordJournal;
  /** Default: events are not recorded. */
  readonly recordEvent?: RecordEvent;
  readonly metrics?: Metrics;
  /** Default: no log. */
  readonly log?: Logger;
  /** Default: `monotonicScheduler`. */
  readonly scheduler?: SchedulerLike;
}

/** Calls to the runtime for clients of the agent. */
export interface ClientCalls {
  readonly stats: RuntimeStats;
  readonly streaming: StreamingService;
}

/**
 * Calls `use` with the ports of this machine, over the runtime behind a socket, and emits the values of its result. The calls for clients of the
 * agent are no ports of the loop. `use` is called once
 * the runtime has answered. Until then, and while the machine lacks a resource to be read, the runtime is called again after 100 ms,
 * doubling to 5 s, with a warning each time. The connection is closed at the end.
 *
 * Errors: those of `use`; cgroups that this machine does not have; throws for an endpoint that is not a unix socket.
 * Ends:   with the result of `use`.
 */
export const withNodePorts = <T>(
  {
    endpoint,
    imageEndpoint = endpoint,
    requestTimeoutMs = 120_000,
    node,
    cgroups,
    probes,
    record = countOnly(),
    recordEvent = () => undefined,
    metrics = noMetrics,
    log = silent,
    scheduler = monotonicScheduler,
  }: NodePortsOptions,
  use: (ports: KubeletPorts, calls: ClientCalls) => Observable<T>,
): Observable<T> =>
  defer(() => {
    const observe = (operation: string, durationMs: number, error?: unknown): void =>
      metrics.runtimeOperation(operation, durationMs / 1000, error !== undefined);
    const { runtime, images, stats, streaming, close } = criClient({
      endpoint,
      imageEndpoint,
      requestTimeoutMs,
      observe,
    });
    const ports: Omit<KubeletPorts, 'runtimeName' | 'node'> = {
      runtime,
      images,
      record,
      recordEvent,
      metrics,
      log,
      scheduler,
      files: nodeFiles,
      logFiles,
      diskSpace,
      podFiles,
      volumeFiles: volumeFiles(),
      httpRequest: httpRequest(),
      probeHandlers: probeHandlers({ runtime, httpRequest: httpRequest(), tcpConnect, checkHealth, scheduler }, probes),
      ...noCredentials,
      pullRecords: pullRecordFiles(node.rootDirectory, log),
      shutdownInhibitor: logind(),
      shutdownStates: shutdownStateFile(node.rootDirectory),
      checkpoints: checkpointFiles(node.rootDirectory),
      probeRecords: probeRecordFiles(node.rootDirectory, log),
      nodeCredentials: nodeCredentials(dockerConfigPlaces(node.rootDirectory), { log, scheduler }),
      wallClock: () => Date.now(),
      random: Math.random,
    };
    const runtimeFacts$ = forkJoin([runtime.version({}), runtime.status({ verbose: true })]).pipe(
      map(([{ runtimeName }, { info, features }]) => ({
        runtimeName,
        canMount: canMount(info),
        keepsStarts: keepsStarts(info),
        sharesNetwork: sharesNetwork(info),
        unappliedSecurity: unappliedByRuntime(info),
        hasSupplementalGroupsPolicy: features?.supplementalGroupsPolicy ?? false,
      })),
    );
    const cgroupDriver$ = cgroups ? cgroupDriver(runtime, cgroups.driver, { log, metrics, scheduler }) : of(undefined);
    return forkJoin([runtimeFacts$, cgroupDriver$]).pipe(
      map(([{ runtimeName, ...facts }, driver]) =>
        unlessShort((): KubeletPorts => {
          const nodeCgroups = cgroups &&
            driver && { cgroups: hostCgroups(driver), settings: cgroups.settings, capacity: cgroupCapacity() };
          const figures = evictionFigures({
            ...{ nodeName: node.nodeName ?? '', ...node, images, log, scheduler, wallClock: ports.wallClock },
            runtime: () => ({ runtime, images, stats }),
            reader: usageReader({ now: ports.wallClock, steadyNow: () => scheduler.now() }),
            readMachine: machineFacts(node.rootDirectory),
            systemCgroups: () => cgroupOfPods(nodeCgroups),
          });
          return {
            ...{ ...ports, runtimeName, nodeCgroups },
            node: readNodeFacts(node, log, facts),
            evictionFigures: figures,
            oomLog,
          };
        }),
      ),
      tap({ error: (error: unknown) => log.warn({ error: errorText(error) }, 'waiting for the runtime') }),
      retryWithBackoff({ initialMs: 100, maxMs: 5000, scheduler }),
      switchMap((read) => use(read(), { stats, streaming })),
      finalize(close),
    );
  });

/** The pods as a whole have a limit of memory of their own, where they have a cgroup. */
const cgroupOfPods = (nodeCgroups: KubeletPorts['nodeCgroups']): SystemCgroups => {
  const root = nodeCgroups?.settings.root;
  return nodeCgroups && root ? { pods: nodeCgroups.cgroups.pathOf(kubepodsCgroup(root)) } : {};
};

/**
 * Reads facts of the machine, which are read only once. A temporary lack of a resource must not count as a fact, so it is thrown, for a
 * retry. Other errors are thrown by the result.
 *
 * Errors: the machine lacks a resource for the read.
 */
const unlessShort = <T>(read: () => T): (() => T) => {
  try {
    const value = read();
    return () => value;
  } catch (error) {
    if (isShortage(error)) throw error;
    return () => {
      throw error;
    };
  }
};

const nothing = (): void => undefined;
const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Returns ids for entries, and keeps none. */
const countOnly = (): RecordJournal => {
  let count = 0;
  return () => `entry-${++count}`;
};
