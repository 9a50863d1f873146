import { catchError, defer, forkJoin, map, type Observable, of, type SchedulerLike, share, switchMap } from 'rxjs';
import type { Pod } from '../../model/pod/pod.js';
import { assembleSample, type SampleParts, type SystemCgroups } from '../../model/stats/assemble-sample.js';
import { CpuRates } from '../../model/stats/cpu-rates.js';
import type { NodeSample } from '../../model/stats/node-sample.js';
import { sampledPods } from '../../model/stats/sampled-pods.js';
import type { ImageService } from '../ports/image-service.js';
import type { Logger } from '../ports/logger.js';
import type { NodeStats } from '../ports/node-stats.js';
import type { ReadMachine } from '../ports/read-machine.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import type { RuntimeStats } from '../ports/runtime-stats.js';
import type { UsageReader, WantedCgroup } from '../ports/usage-reader.js';
import type { WallClock } from '../ports/wall-clock.js';
import { hostsUsage, logSizes, logUsage, NO_DISKS, nodeDisks } from './disk-usage.js';
import { logNewProblems } from './log-new-problems.js';
import { figuresReader, type ReadFigures, runtimeLists } from './runtime-lists.js';
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
  /** Whether the runtime is asked for its metrics (PodAndContainerStatsFromCRI). */
  readonly asksRuntime?: boolean;
  readonly log: Pick<Logger, 'warn'>;
  readonly scheduler: SchedulerLike;
  /** For the times of samples, which scrapers compare with their own. */
  readonly wallClock: WallClock;
}

type Kind = 'resources' | 'summary' | 'cgroups';

/** Makes the samples of one node, whose agent starts now. Rates of the CPU count from the last sample of any kind. */
export const nodeStats = (options: NodeStatsOptions): NodeStats => {
  const { reader, scheduler, wallClock, nodeName, log } = options;
  const startedAtMs = wallClock();
  const rates = new CpuRates();
  const readFigures = figuresReader();
  const volumesOf = volumeUsage({ ...options, keptMs: options.volumesKeptMs });
  const facts$ = defer(options.readMachine).pipe(catchError(() => of(undefined)));
  const disks = { ...options, now: wallClock };

  const sample = (kind: Kind): Observable<NodeSample> =>
    defer(() => {
      const connection = options.runtime();
      const systemCgroups = options.systemCgroups();
      return forkJoin([
        runtimeLists(connection?.runtime),
        reader.machine(),
        kind === 'cgroups' ? facts$ : of(undefined),
      ]).pipe(
        switchMap(([lists, machine, facts]) => {
          const pods = sampledPods(options.pods(), lists.sandboxes, lists.containers);
          const wanted = wantedCgroups(pods, kind, [machine.ownCgroup, ...groupsIn(systemCgroups)]);
          const ofSummary = kind === 'summary';
          return reader.cgroups(wanted, kind === 'cgroups' ? 'full' : 'basic').pipe(
            switchMap((reading) => {
              // Cgroups suffice for the rest; a runtime without cgroups, such as one with virtual machines, is asked.
              const lacksCgroup = pods.some(({ containers }) => containers.some(({ id }) => !reading.cgroups.has(id)));
              const figures$ = ofSummary || lacksCgroup ? readFigures(connection?.stats) : of<ReadFigures>(NOT_READ);
              return figures$.pipe(
                switchMap((read) =>
                  forkJoin({
                    disks: ofSummary
                      ? nodeDisks(
                          disks,
                          connection?.images,
                          [...read.figures.containers.values()].flatMap(({ writableLayer }) => writableLayer ?? []),
                        )
                      : of(NO_DISKS),
                    logs: ofSummary ? logUsage(disks, pods) : of<SampleParts['logs']>(new Map()),
                    hostsFiles: ofSummary ? hostsUsage(disks, pods) : of<SampleParts['hostsFiles']>(new Map()),
                    fileSystems: kind === 'cgroups' ? reader.fileSystems() : of<SampleParts['fileSystems']>([]),
                    volumes: ofSummary ? volumesOf(pods.map(({ pod }) => pod)) : of<SampleParts['volumes']>(new Map()),
                  }).pipe(
                    map((space) =>
                      assembleSample(
                        { nodeName, startedAtMs, systemCgroups, lists, machine, facts, pods, reading, read, ...space },
                        rates,
                        { timeMs: wallClock(), steadyMs: scheduler.now() },
                      ),
                    ),
                  ),
                ),
              );
            }),
          );
        }),
      );
    }).pipe(logNewProblems(log), share());

  return {
    resources$: sample('resources'),
    summary$: sample('summary'),
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

const NOT_READ: ReadFigures = { figures: { containers: new Map(), sandboxes: new Map() }, problems: [] };

const wantedCgroups = (
  pods: ReturnType<typeof sampledPods>,
  kind: Kind,
  system: readonly (string | undefined)[],
): readonly WantedCgroup[] => {
  const hasProcesses = kind !== 'resources';
  return [
    { key: '/' },
    ...[...new Set(system)].flatMap((key) =>
      key === undefined || key === '/' ? [] : [{ key, hasCreation: kind !== 'cgroups' }],
    ),
    ...pods.flatMap(({ pod, sandbox, containers }) => [
      { key: `pod${pod.metadata.uid}` },
      { key: sandbox.id, hasProcesses },
      ...containers.map(({ id }) => ({ key: id, hasProcesses })),
    ]),
  ];
};
