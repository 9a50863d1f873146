import { defer, ignoreElements, map, NEVER, type Observable, of, type SchedulerLike, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { NodeSample } from '../../../src/model/stats/node-sample.js';
import { nodeStats, type NodeStatsOptions, type StatsRuntime } from '../../../src/streams/stats/node-stats.js';
import type { UsageReader } from '../../../src/streams/ports/usage-reader.js';
import { aMachine, POD_A, START_MS, statsCgroup, statsMachine, textsV2 } from '../../support/stats-parts.js';
import { marbles } from '../marbles.js';

const unimplemented = (call: string): Observable<never> => throwError(() => new CriError('unimplemented', call, 'no'));

const RUNTIME: StatsRuntime = {
  runtime: {
    listPodSandbox: () => of({ items: POD_A.sandboxes }),
    listContainers: () => of({ containers: POD_A.containers }),
  },
  images: { imageFsInfo: () => of({ imageFilesystems: [], containerFilesystems: [] }) },
  stats: {
    listPodSandboxStats: () => unimplemented('ListPodSandboxStats'),
    listContainerStats: () => of({ stats: [] }),
    listMetricDescriptors: () => unimplemented('ListMetricDescriptors'),
    listPodSandboxMetrics: () => unimplemented('ListPodSandboxMetrics'),
  },
};

/** The container uses half a core; each read takes `readMs`. */
const options = (
  scheduler: SchedulerLike,
  readMs$: Observable<unknown>,
  over: Partial<NodeStatsOptions> = {},
): NodeStatsOptions => {
  const { wallClock = () => START_MS + scheduler.now() } = over;
  const reader: UsageReader = {
    cgroups: (wanted) =>
      readMs$.pipe(
        map(() => ({
          problems: [],
          cgroups: new Map(
            wanted.map(
              ({ key }) => [key, statsCgroup(`/x/${key}`, textsV2(scheduler.now() * 500), wallClock())] as const,
            ),
          ),
        })),
      ),
    machine: () => of(statsMachine()),
    fileSystems: () => of([]),
    fileSystem: () => throwError(() => new Error('no file system')),
    device: () => of('1'),
    directory: () => throwError(() => new Error('no directory')),
  };
  return {
    nodeName: 'n1',
    rootDirectory: '/r',
    podLogsDirectory: '/l',
    pods: () => POD_A.pods,
    runtime: () => RUNTIME,
    reader,
    systemCgroups: () => ({}),
    readMachine: () => of(aMachine),
    volumesKeptMs: 60_000,
    log: { warn: () => undefined },
    scheduler,
    wallClock,
    ...over,
  };
};
const rateOf = (sample$: ReturnType<typeof nodeStats>['resources$']): Observable<string> =>
  sample$.pipe(map(({ pods }) => String(pods[0]?.containers[0]?.usage?.nanoCores)));

describe('a sample', () => {
  it(
    'is shared by those that wait for it, and taken again for the next one; nothing is read without a client',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const read = cold('            ---(r|)');
      const { resources$ } = nodeStats(options(scheduler, read));
      const sample$ = resources$.pipe(map(() => 's'));
      expectObservable(sample$, '    ^         ').toBe('---(s|)');
      expectObservable(sample$, '    -^        ').toBe('---(s|)');
      expectObservable(sample$, '    -----^    ').toBe('--------(s|)');
      expectSubscriptions(read.subscriptions).toBe(['^--!', '-----^--!']);
    }),
  );

  it(
    'is cancelled when its last client leaves',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const read = cold('           ------(r|)');
      const { resources$ } = nodeStats(options(scheduler, read));
      expectObservable(resources$, '^--!').toBe('');
      expectObservable(resources$, '-^--!').toBe('');
      expectSubscriptions(read.subscriptions).toBe('^---!');
    }),
  );

  it(
    'has the time of the machine, and the same rates when that is set',
    marbles(({ cold, expectObservable, scheduler }) => {
      // It is set back by a day after five seconds.
      const wallClock = () => START_MS + scheduler.now() - (scheduler.now() < 5_000 ? 0 : 86_400_000);
      const { resources$ } = nodeStats(options(scheduler, cold('(r|)'), { wallClock }));
      const both$ = resources$.pipe(
        map(({ timeMs, pods }) => {
          const usage = pods[0]?.containers[0]?.usage;
          return [timeMs - START_MS, (usage?.timeMs ?? 0) - START_MS, usage?.nanoCores];
        }),
      );
      expectObservable(both$, '4000ms ^').toBe('4000ms (t|)', { t: [4_000, 4_000, undefined] });
      expectObservable(both$, '6000ms ^').toBe('6000ms (t|)', { t: [-86_394_000, -86_394_000, 500_000_000] });
    }),
  );

  it(
    'has rates since the last one, which are unknown at first and not renewed within a second',
    marbles(({ cold, expectObservable, scheduler }) => {
      const { resources$, cgroups$ } = nodeStats(options(scheduler, cold('(r|)')));
      const half = '500000000';
      expectObservable(rateOf(resources$), '        ^').toBe('(u|)', { u: 'undefined' });
      expectObservable(rateOf(cgroups$), ' 999ms ^').toBe('999ms (u|)', { u: 'undefined' });
      expectObservable(rateOf(resources$), '1000ms ^').toBe('1000ms (h|)', { h: half });
      expectObservable(rateOf(resources$), '1500ms ^').toBe('1500ms (h|)', { h: half });
      expectObservable(rateOf(cgroups$), ' 9000ms ^').toBe('9000ms (h|)', { h: half });
    }),
  );

  it(
    'has the start of the agent, the time at which cgroups of the system were made, and the hosts files of pods',
    marbles(({ cold, expectObservable, scheduler }) => {
      const { reader, ...rest } = options(scheduler, cold('(r|)'), {
        systemCgroups: () => ({ pods: '/pods', kubelet: '/agent' }),
      });
      const dated: UsageReader = {
        ...reader,
        cgroups: (wanted, detail) =>
          reader.cgroups(wanted, detail).pipe(
            map(({ cgroups, problems }) => ({
              problems,
              cgroups: new Map(
                [...cgroups].map(([key, cgroup]) => {
                  const isAsked = wanted.some((each) => each.key === key && each.hasCreation);
                  return [key, { ...cgroup, createdAtMs: isAsked ? START_MS - 5_000 : undefined }] as const;
                }),
              ),
            })),
          ),
        directory: (path) =>
          path === '/r/pods/uid-a/etc-hosts'
            ? of({ timeMs: START_MS, usedBytes: 4_096, inodesUsed: 1 })
            : throwError(() => new Error('no directory')),
      };
      const { summary$, resources$ } = nodeStats({ ...rest, reader: dated });
      const starts = map(({ systemContainers }: NodeSample) =>
        systemContainers.map(({ name, startedAtMs }) => `${name} ${(startedAtMs ?? NaN) - START_MS}`),
      );
      const s = ['kubelet 0', 'pods -5000'];
      expectObservable(summary$.pipe(starts), '  3000ms ^').toBe('3000ms (s|)', { s });
      expectObservable(resources$.pipe(starts), '4000ms ^').toBe('4000ms (s|)', { s });
      const hosts$ = summary$.pipe(map(({ pods }) => pods.map(({ hostsFile }) => hostsFile?.usedBytes)));
      expectObservable(hosts$, '5000ms ^').toBe('5000ms (h|)', { h: [4_096] });
    }),
  );

  it(
    'of logs has the containers that run by their status, without the runtime, and is shared as others are',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const walk = cold('              --(d|)', { d: { timeMs: START_MS, usedBytes: 4_096, inodesUsed: 2 } });
      const [pod] = POD_A.pods;
      const containerStatuses = ['main', 'unread'].map((name) => ({ name, state: { running: {} } }));
      const pods = [{ ...pod, status: { ...pod?.status, containerStatuses } }] as unknown as readonly Pod[];
      const { reader, ...rest } = options(scheduler, NEVER, { runtime: () => undefined, pods: () => pods });
      const directory: UsageReader['directory'] = (path) =>
        path === '/l/default_a_uid-a/main' ? walk : reader.directory(path);
      const { logs$ } = nodeStats({ ...rest, reader: { ...reader, directory } });
      const s = [{ pod: { uid: 'uid-a', namespace: 'default', name: 'a' }, container: 'main', usedBytes: 4_096 }];
      expectObservable(logs$, '       ^       ').toBe('--(s|)', { s });
      expectObservable(logs$, '       -^      ').toBe('--(s|)', { s });
      expectObservable(logs$, '       -----^  ').toBe('-------(s|)', { s });
      expectSubscriptions(walk.subscriptions).toBe(['^-!', '-----^-!']);
    }),
  );

  it(
    'of the node alone asks the runtime for nothing but its disks, and has no pods',
    marbles(({ cold, expectObservable, scheduler }) => {
      const listed: string[] = [];
      const runtime: StatsRuntime = {
        ...RUNTIME,
        runtime: {
          listPodSandbox: () => defer(() => of({ items: (listed.push('sandboxes'), []) })),
          listContainers: () => defer(() => of({ containers: (listed.push('containers'), []) })),
        },
      };
      const { reader, ...rest } = options(scheduler, cold('(r|)'), {
        runtime: () => runtime,
        systemCgroups: () => ({ pods: '/pods' }),
      });
      const space = { capacityBytes: 9, availableBytes: 5, usedBytes: 4, inodes: 9, inodesFree: 5 };
      const { node$ } = nodeStats({ ...rest, reader: { ...reader, fileSystem: () => of(space) } });
      const part$ = node$.pipe(
        map(({ pods, node, systemContainers }) => [
          pods.length,
          node.disk?.fileSystem?.availableBytes,
          node.usage?.workingSet !== undefined,
          systemContainers.map(({ name }) => name),
          listed,
        ]),
      );
      expectObservable(part$).toBe('(s|)', { s: [0, 5, true, ['pods'], []] });
    }),
  );

  it(
    'of some pods has these alone',
    marbles(({ cold, expectObservable, scheduler }) => {
      const { summaryOf } = nodeStats(options(scheduler, cold('(r|)'), { pods: () => [] }));
      const uids = map(({ pods }: NodeSample) => pods.map(({ ref }) => ref.uid));
      expectObservable(summaryOf([]).pipe(uids)).toBe('(n|)', { n: [] });
      expectObservable(summaryOf(POD_A.pods).pipe(uids)).toBe('(n|)', { n: ['uid-a'] });
    }),
  );

  it(
    'of a runtime that cannot be listed has the node and the reason',
    marbles(({ cold, expectObservable, scheduler }) => {
      const runtime = {
        ...RUNTIME,
        runtime: { ...RUNTIME.runtime, listContainers: () => throwError(() => new Error('down')) },
      };
      const of$ = (given: StatsRuntime | undefined) =>
        nodeStats(options(scheduler, cold('(r|)'), { runtime: () => given })).summary$.pipe(
          map(({ failure, pods, node, problems }) => [failure, pods.length, node.name, problems.length]),
        );
      expectObservable(of$(runtime)).toBe('(s|)', { s: ['down', 0, 'n1', 1] });
      expectObservable(of$(undefined)).toBe('(s|)', { s: ['the runtime is not connected yet', 0, 'n1', 1] });
    }),
  );

  it(
    'falls back to the statistics of containers for good, and reports other failures as a problem',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const [sandboxes, containers] = [
        cold<never>('-#', {}, new CriError('unimplemented', 'x', 'no')),
        cold('--(c|)', { c: { stats: [] } }),
      ];
      const stats = { ...RUNTIME.stats, listPodSandboxStats: () => sandboxes, listContainerStats: () => containers };
      const { summary$ } = nodeStats(options(scheduler, cold('(r|)'), { runtime: () => ({ ...RUNTIME, stats }) }));
      const problems$ = summary$.pipe(map(({ problems }) => problems.length));
      expectObservable(problems$, '^').toBe('---(n|)', { n: 0 });
      expectObservable(problems$, '-----^').toBe('-------(n|)', { n: 0 });
      expectSubscriptions(sandboxes.subscriptions).toBe('^!');
      expectSubscriptions(containers.subscriptions).toBe(['-^-!', '-----^-!']);
      const broken = { ...stats, listPodSandboxStats: () => throwError(() => new Error('broken')) };
      const other = nodeStats(options(scheduler, cold('(r|)'), { runtime: () => ({ ...RUNTIME, stats: broken }) }));
      expectObservable(other.summary$.pipe(map(({ problems, pods }) => [problems, pods.length]))).toBe('(p|)', {
        p: [['statistics of the runtime: broken'], 1],
      });
    }),
  );

  it(
    'of the metrics of the runtime is taken only where they are wanted, and is absent where the runtime has none',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const [descriptors, metrics] = [
        cold('-(d|)', { d: { descriptors: [{ name: 'a', help: '', labelKeys: [] }] } }),
        cold('--(m|)', { m: { podMetrics: [] } }),
      ];
      const stats = {
        ...RUNTIME.stats,
        listMetricDescriptors: () => descriptors,
        listPodSandboxMetrics: () => metrics,
      };
      const of$ = (calls: typeof RUNTIME.stats | undefined, asksRuntime: boolean) => {
        const runtime = () => (calls ? { ...RUNTIME, stats: calls } : undefined);
        return nodeStats(options(scheduler, cold('(r|)'), { runtime, asksRuntime })).runtimeMetrics$.pipe(
          map((found) => found && [found.families.length, found.problems, found.machine?.facts.cpus]),
        );
      };
      const wanted$ = of$(stats, true);
      expectObservable(of$(stats, false), '^').toBe('(u|)', { u: undefined });
      expectObservable(wanted$, '          ^').toBe('--(s|)', { s: [0, [], aMachine.cpus] });
      expectObservable(wanted$, '          -^').toBe('--(s|)', { s: [0, [], aMachine.cpus] });
      expectObservable(of$(RUNTIME.stats, true)).toBe('(u|)', { u: undefined });
      const broken = { ...stats, listPodSandboxMetrics: () => throwError(() => new Error('broken')) };
      expectObservable(of$(broken, true)).toBe('(s|)', { s: [0, ['metrics of the runtime: broken'], aMachine.cpus] });
      expectObservable(of$(undefined, true)).toBe('(s|)', {
        s: [0, ['the runtime is not connected yet'], aMachine.cpus],
      });
      expectSubscriptions(metrics.subscriptions).toBe('^-!');
    }),
  );

  it(
    'logs what is wrong with a metric of the runtime, or with a file, once for as long as it lasts',
    marbles(({ cold, expectObservable, scheduler, flush }) => {
      const logged: unknown[] = [];
      const log = { warn: (fields: object, message: string) => logged.push([scheduler.now(), fields, message]) };
      const metric = (name: string) => ({
        name,
        timestamp: 0n,
        metricType: 'GAUGE',
        labelValues: [],
        value: { value: 1n },
      });
      const names = [['a'], ['a', 'b'], [], ['a']];
      const stats = {
        ...RUNTIME.stats,
        listMetricDescriptors: () => of({ descriptors: [] }),
        listPodSandboxMetrics: () =>
          defer(() => of({ podMetrics: [{ metrics: (names.shift() ?? []).map(metric), containerMetrics: [] }] })),
      } as unknown as StatsRuntime['stats'];
      const { runtimeMetrics$, cgroups$ } = nodeStats(
        options(scheduler, cold('(r|)'), { runtime: () => ({ ...RUNTIME, stats }), asksRuntime: true, log }),
      );
      for (const at of ['^', '-^', '--^', '---^']) expectObservable(runtimeMetrics$.pipe(ignoreElements()), at);
      const reading = { cgroups: new Map(), problems: Array.from({ length: 12 }, (_, index) => `file ${index}`) };
      const { reader } = options(scheduler, cold('(r|)'));
      const broken = nodeStats(
        options(scheduler, cold('(r|)'), { reader: { ...reader, cgroups: () => of(reading) }, log }),
      );
      for (const at of ['----^', '-----^']) expectObservable(broken.cgroups$.pipe(ignoreElements()), at);
      expectObservable(cgroups$.pipe(ignoreElements()), '^');
      flush();
      const unknown = 'a figure for metrics is not known';
      const lacks = (name: string) => ({ problem: `metric "${name}" of the runtime: it has no descriptor` });
      expect(logged).toEqual([
        [0, lacks('a'), unknown],
        [1, lacks('b'), unknown],
        [3, lacks('a'), unknown],
        ...Array.from({ length: 10 }, (_, index) => [4, { problem: `file ${index}` }, unknown]),
        [4, { count: 2 }, 'more figures for metrics are not known'],
      ]);
    }),
  );
});
