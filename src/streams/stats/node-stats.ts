import {
  catchError,
  defer,
  forkJoin,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  type SchedulerLike,
  share,
  switchMap,
} from 'rxjs';
import type { Pod } from '../../model/pod/pod.js';
import { assembleSample, NO_SPACE, type SystemCgroups } from '../../model/stats/assemble-sample.js';
import { CpuRates } from '../../model/stats/cpu-rates.js';
import type { NodeSample } from '../../model/stats/node-sample.js';
import { NO_FIGURES, writableLayersOf } from '../../model/stats/runtime-figures.js';
import {
  needsRuntimeFigures,
  type SampledPod,
  type SampleKind,
  sampledPods,
  wantedCgroups,
} from '../../model/stats/sampled-pods.js';
import type { ImageService } from '../ports/image-service.js';
import type { Logger } from '../ports/logger.js';
import type { NodeStats, PartialStats } from '../ports/node-stats.js';
import type { ReadMachine } from '../ports/read-machine.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import type { RuntimeStats } from '../ports/runtime-stats.js';
import type { UsageReader } from '../ports/usage-reader.js';
import type { WallClock } from '../ports/wall-clock.js';
import { hostsUsage, logSizes, logUsage, nodeDisks } from './disk-usage.js';
import { logNewProblems } from './log-new-problems.js';
import { figuresReader, type ReadFigures, type RuntimeLists, runtimeLists } from './runtime-lists.js';
import { runtimeSample } from './runtime-sample.js';
import { volumeUsage } from './volume-usage.js';

/** The connection to the runtime. */
export interface StatsRuntime {
  readonly runtime: Pick<RuntimeService, 'listPodSandbox' | 'listContainers'>;
  readonly images: Pick<ImageService, 'imageFsInfo'>;
  readonly stats: RuntimeStats;
}

export interface NodeStatsOptions {
  readonly nodeName: string;
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  /** The pods of the agent with their statuses. */
  readonly pods: () => readonly Pod[];
  /** Undefined while there is no connection. */
  readonly runtime: () => StatsRuntime | undefined;
  readonly reader: UsageReader;
  readonly readMachine: ReadMachine;
  readonly systemCgroups: () => SystemCgroups;
  /** The time for which the space of volumes is kept, in milliseconds. */
  readonly volumesKeptMs: number;
  /** The longest time for a walk of volumes after the sample that it was begun for. Default: `volumesKeptMs`. */
  readonly volumeWalkMs?: number;
  /** Whether the runtime is asked for its metrics (PodAndContainerStatsFromCRI). */
  readonly asksRuntime?: boolean;
  readonly log: Pick<Logger, 'warn'>;
  readonly scheduler: SchedulerLike;
  /** For the times of samples, which scrapers compare with their own. */
  readonly wallClock: WallClock;
}

/** Makes the samples of one node, whose agent starts now. Rates of the CPU count from the last sample of any kind. */
export const nodeStats = (options: NodeStatsOptions): NodeStats & PartialStats => {
  const { reader, scheduler, wallClock, nodeName, log } = options;
  const startedAtMs = wallClock();
  const readFigures = figuresReader();
  const rates = new CpuRates();
  const volumesOf = volumeUsage({ ...options, keptMs: options.volumesKeptMs, walkMs: options.volumeWalkMs });
  const facts$ = defer(options.readMachine).pipe(catchError(() => of(undefined)));
  const disks = { ...options, now: wallClock };

  const spaceOf = (
    pods: readonly SampledPod[],
    { figures }: ReadFigures,
    connection: StatsRuntime | undefined,
  ): Observable<typeof NO_SPACE> =>
    forkJoin({
      disks: nodeDisks(disks, connection?.images, writableLayersOf(figures)),
      logs: logUsage(disks, pods),
      hostsFiles: hostsUsage(disks, pods),
      volumes: volumesOf(pods.map(({ pod }) => pod)),
    });

  const spaceFor = (
    kind: SampleKind,
    ...[pods, read, connection]: Parameters<typeof spaceOf>
  ): Observable<typeof NO_SPACE> => {
    if (kind === 'summary') return spaceOf(pods, read, connection);
    if (kind !== 'node') return of(NO_SPACE);
    return nodeDisks(disks, connection?.images, []).pipe(map((ofNode) => ({ ...NO_SPACE, disks: ofNode })));
  };

  const sample = (
    kind: SampleKind,
    { pods: podsOf = options.pods, logProblems = logNewProblems<NodeSample>(log) }: SampleScope = {},
  ): Observable<NodeSample> =>
    defer(() => {
      const connection = options.runtime();
      const systemCgroups = options.systemCgroups();
      return forkJoin([
        kind === 'node' ? of(NO_LISTS) : runtimeLists(connection?.runtime),
        reader.machine(),
        kind === 'cgroups' ? facts$ : of(undefined),
      ]).pipe(
        switchMap(([lists, machine, facts]) => {
          const pods = sampledPods(podsOf(), lists.sandboxes, lists.containers);
          const wanted = wantedCgroups(pods, kind, [machine.ownCgroup, ...groupsIn(systemCgroups)]);
          return reader.cgroups(wanted, kind === 'cgroups' ? 'full' : 'basic').pipe(
            switchMap((reading) => {
              const figures$ = needsRuntimeFigures(pods, kind, reading) ? readFigures(connection?.stats) : of(NOT_READ);
              return figures$.pipe(
                switchMap((read) =>
                  forkJoin([
                    spaceFor(kind, pods, read, connection),
                    kind === 'cgroups' ? reader.fileSystems() : of([]),
                  ]).pipe(
                    map(([space, fileSystems]) => {
                      const parts = { lists, machine, facts, pods, reading, read, fileSystems, ...space };
                      const time = { timeMs: wallClock(), steadyMs: scheduler.now() };
                      return assembleSample({ nodeName, startedAtMs, systemCgroups, ...parts }, rates, time);
                    }),
                  ),
                ),
              );
            }),
          );
        }),
      );
    }).pipe(logProblems, share());

  // Each such summary is a stream of its own, and their problems are logged once.
  const ofSome: SampleScope = { logProblems: logNewProblems(log) };
  return {
    resources$: sample('resources'),
    summary$: sample('summary'),
    node$: sample('node'),
    summaryOf: (some) => sample('summary', { ...ofSome, pods: () => some }),
    cgroups$: sample('cgroups'),
    runtimeMetrics$: options.asksRuntime
      ? runtimeSample({ stats: () => options.runtime()?.stats, reader, facts$, log })
      : of(undefined),
    logs$: defer(() => logSizes(options, options.pods())).pipe(share()),
  };
};

const groupsIn = (groups: SystemCgroups): readonly (string | undefined)[] => [
  ...[groups.pods, groups.burstable, groups.besteffort, groups.runtime, groups.kubelet, groups.misc],
];

interface SampleScope {
  /** Default: all pods of the agent. */
  readonly pods?: () => readonly Pod[];
  /** Default: those of this kind of sample. */
  readonly logProblems?: MonoTypeOperatorFunction<NodeSample>;
}

const NO_LISTS: RuntimeLists = { sandboxes: [], containers: [] };
const NOT_READ: ReadFigures = { figures: NO_FIGURES, problems: [] };
