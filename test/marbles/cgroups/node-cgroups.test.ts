import { catchError, concat, of, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { MemoryQos } from '../../../src/model/cgroups/memory-qos.js';
import type { CgroupSettings } from '../../../src/model/cgroups/cgroup-settings.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { quantity } from '../../../src/model/resources/quantity.js';
import { noMetrics } from '../../../src/streams/ports/metrics.js';
import { kubeletCgroups } from '../../../src/streams/cgroups/kubelet-cgroups.js';
import { prepareNodeCgroups, tendNodeCgroups } from '../../../src/streams/cgroups/node-cgroups.js';
import { aPod } from '../../support/a-pod.js';
import { fakeCgroups } from '../../support/fake-cgroups.js';
import { nodeFacts } from '../../support/node-facts.js';
import { marbles } from '../marbles.js';

const MINUTE = 60_000;
const capacity = new Map(
  Object.entries({ cpu: '4', memory: '8Gi', pid: '1000' }).map(([name, text]) => [name, quantity(text)] as const),
);
const asking: Pod = aPod({
  spec: { containers: [{ name: 'main', image: 'host', resources: { requests: { cpu: '1' } } }] },
});

const MEBI = 1n << 20n;
const requesting = (memory: string, { limits = false } = {}) => {
  const amounts = { cpu: '1', memory };
  return {
    name: 'main',
    image: 'host',
    resources: limits ? { requests: amounts, limits: amounts } : { requests: { memory } },
  };
};

const stageOf = (
  scheduler: SchedulerLike,
  {
    existing = [],
    settings = {},
    version = 2,
    memoryQos,
  }: {
    readonly existing?: readonly string[];
    readonly settings?: Partial<CgroupSettings>;
    readonly version?: 1 | 2;
    readonly memoryQos?: MemoryQos;
  } = {},
) => {
  const fake = fakeCgroups(scheduler, existing);
  const [logged, events]: [string[], string[]] = [[], []];
  const say = (_: object, message: string) => logged.push(message);
  const options = {
    cgroups: { ...fake.cgroups, version },
    settings: {
      ...{ root: [], podPidsLimit: -1, enforced: ['pods'] as const },
      ...{ systemReserved: {}, kubeReserved: {}, systemReservedCgroup: '', kubeReservedCgroup: '' },
      ...settings,
    },
    capacity,
    node: { ...nodeFacts, ...(memoryQos && { memoryQos }) },
    activePods: () => [asking],
    recordEvent: ({ type, reason, message, pod }: { type: string; reason: string; message: string; pod?: Pod }) =>
      events.push(`${scheduler.now()} ${pod ? 'pod' : 'node'} ${type} ${reason} ${message}`),
    log: { debug: say, info: say, warn: say, error: say },
    scheduler,
  };
  const prepare$ = prepareNodeCgroups(options).pipe(catchError((error: unknown) => of(String(error))));
  return { ...fake, events, logged, options, prepare$ };
};

describe('what pods are put into', () => {
  it(
    'is made at the start, parents first, with what pods may have',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, { settings: { kubeReserved: { cpu: '1', memory: '1Gi' } } });
      expectObservable(stage.prepare$).toBe('|');
      flush();
      expect(stage.did).toEqual([
        '0 create /kubepods',
        '0 create /kubepods/burstable',
        '0 create /kubepods/besteffort',
      ]);
      expect(stage.resources.get('/kubepods')).toMatchObject({ cpuShares: 3072, memory: 7n << 30n, pids: 1000n });
      expect(stage.resources.get('/kubepods/besteffort')).toMatchObject({ cpuShares: 2 });
      expect(stage.events).toEqual([]);
    }),
  );

  it(
    'is left as it is where it is there: pods may run in it',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, { existing: ['/kubepods', '/kubepods/burstable', '/kubepods/besteffort'] });
      expectObservable(stage.prepare$).toBe('|');
      flush();
      expect(stage.did).toEqual(['0 update /kubepods/burstable', '0 update /kubepods/besteffort']);
      expect(stage.resources.get('/kubepods/burstable')).not.toHaveProperty('cpuShares');
    }),
  );

  it(
    'is created below an existing root, and only there',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, { settings: { root: ['mine'] } });
      expectObservable(stage.prepare$).toBe('(e|)', {
        e: 'NodeCgroupsError: invalid configuration: cgroupRoot: cgroup ["mine"] has some missing paths: /mine',
      });
      const other = stageOf(scheduler, { settings: { root: ['mine'] }, existing: ['/mine'] });
      expectObservable(other.prepare$).toBe('|');
      flush();
      expect(stage.did).toEqual([]);
      expect(other.there.has('/mine/kubepods/burstable')).toBe(true);
    }),
  );

  it(
    'cannot be made: the error says what to set to do without',
    marbles(({ scheduler, expectObservable }) => {
      const stage = stageOf(scheduler);
      stage.failures.set('create /kubepods', ['EACCES: permission denied']);
      expectObservable(stage.prepare$).toBe('(e|)', {
        e:
          'NodeCgroupsError: the cgroups of pods cannot be made: EACCES: permission denied. Run the agent as root, or set ' +
          'cgroupsPerQOS: false and enforceNodeAllocatable: [] to do without them',
      });
    }),
  );

  it(
    'is not made where more is reserved than there is',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, { settings: { kubeReserved: { cpu: '5' } } });
      expectObservable(stage.prepare$).toBe('(e|)', {
        e:
          'NodeCgroupsError: invalid Node Allocatable configuration. Resource "cpu" has a reservation of 5 but capacity of 4. ' +
          'Expected capacity >= reservation.',
      });
      flush();
      expect(stage.did).toEqual([]);
    }),
  );

  it(
    'is said to be old under cgroup v1',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, { version: 1 });
      expectObservable(stage.prepare$).toBe('|');
      flush();
      expect(stage.events).toEqual([expect.stringMatching(/^0 node Warning CgroupV1 cgroup v1 detected/)]);
    }),
  );
});

describe('limits of all pods together', () => {
  const existing = ['/kubepods', '/kubepods/burstable', '/kubepods/besteffort'];
  it(
    'are tried once a minute until they are accepted, and each try is an event of the node',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, { existing });
      stage.failures.set('update /kubepods', ['EBUSY', 'EBUSY']);
      expectObservable(tendNodeCgroups(stage.options), '^ 299s !').toBe('299s -');
      flush();
      const failed =
        'node Warning FailedNodeAllocatableEnforcement Failed to update Node Allocatable Limits ["kubepods"]: EBUSY';
      expect(stage.events).toEqual([
        `0 ${failed}`,
        `${MINUTE} ${failed}`,
        `${2 * MINUTE} node Normal NodeAllocatableEnforced Updated Node Allocatable limit across pods`,
      ]);
      expect(stage.did.filter((line) => line.endsWith('update /kubepods'))).toHaveLength(3);
    }),
  );

  it(
    'update the weights of classes at the start and once a minute, also after failures',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, { existing });
      stage.failures.set('update /kubepods/burstable', ['EIO']);
      expectObservable(tendNodeCgroups(stage.options), '^ 121s !').toBe('121s -');
      flush();
      const times = stage.did.filter((line) => line.endsWith('burstable')).map((line) => Number.parseInt(line, 10));
      expect(times).toEqual([0, MINUTE, 2 * MINUTE]);
      expect(stage.resources.get('/kubepods/burstable')).toMatchObject({ cpuShares: 1024 });
    }),
  );
});

describe('memory that is kept for pods', () => {
  const kept = (keepsRequests: boolean) => ({ memoryQos: { keepsRequests } });
  const memoryOf = (stage: ReturnType<typeof stageOf>, path: string) => {
    const { memoryMin, memoryLow } = stage.resources.get(path) ?? {};
    return [memoryMin, memoryLow];
  };

  it(
    'is what they request: passed on from all pods to the burstable ones, as often as it changes',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, kept(true));
      const first = aPod({ spec: { containers: [requesting('64Mi')] } });
      const second = { ...aPod({ uid: 'b', spec: { containers: [requesting('32Mi', { limits: true })] } }) };
      const active: Pod[] = [first];
      const options = { ...stage.options, activePods: () => active };
      expectObservable(concat(prepareNodeCgroups(options), tendNodeCgroups(options)), '^ 61s !').toBe('61s -');
      scheduler.schedule(() => {
        expect(['/kubepods', '/kubepods/burstable'].map((path) => memoryOf(stage, path))).toEqual([
          [64n * MEBI, 64n * MEBI],
          [undefined, 64n * MEBI],
        ]);
        active.push(second);
      }, 30_000);
      flush();
      expect(['/kubepods', '/kubepods/burstable', '/kubepods/besteffort'].map((path) => memoryOf(stage, path))).toEqual(
        [
          [96n * MEBI, 64n * MEBI],
          [undefined, 64n * MEBI],
          [undefined, undefined],
        ],
      );
    }),
  );

  it(
    'is given back by an agent that keeps none, and is not touched where the kernel has no means for it',
    marbles(({ scheduler, flush }) => {
      const before = ['/kubepods', '/kubepods/burstable', '/kubepods/besteffort'];
      const stages = [kept(false), {}].map((memory) => stageOf(scheduler, { existing: before, ...memory }));
      for (const { prepare$, options } of stages) {
        const started = concat(prepare$, tendNodeCgroups(options)).subscribe();
        scheduler.schedule(() => started.unsubscribe(), MINUTE);
      }
      flush();
      expect(stages.map((stage) => before.map((path) => memoryOf(stage, path)))).toEqual([
        [
          [0n, 0n],
          [undefined, 0n],
          [undefined, undefined],
        ],
        [
          [undefined, undefined],
          [undefined, undefined],
          [undefined, undefined],
        ],
      ]);
    }),
  );

  it(
    'is also that of reserved parts of the system',
    marbles(({ scheduler, flush }) => {
      const settings = {
        ...{ enforced: ['system-reserved'] as const, systemReservedCgroup: '/system' },
        systemReserved: { cpu: '500m', memory: '1Gi' },
      };
      const stages = [true, false].map((keeps) =>
        stageOf(scheduler, { settings, existing: ['/system'], ...kept(keeps) }),
      );
      for (const { prepare$ } of stages) prepare$.subscribe();
      flush();
      expect(stages.map((stage) => memoryOf(stage, '/system'))).toEqual([
        [1024n * MEBI, undefined],
        [undefined, undefined],
      ]);
    }),
  );
});

describe('reserved parts of the system', () => {
  const reserved = { cpu: '500m', memory: '1Gi' };
  it.each([
    {
      who: 'system',
      enforced: 'system-reserved',
      resources: { cpuShares: 512, memory: 1n << 30n },
      event: 'Updated limits on system reserved cgroup /sys',
    },
    {
      who: 'system, its weight only',
      enforced: 'system-reserved-compressible',
      resources: { cpuShares: 512 },
      event: 'Updated limits on system reserved cgroup /sys',
    },
    {
      who: 'kube',
      enforced: 'kube-reserved',
      resources: { cpuShares: 512, memory: 1n << 30n },
      event: 'Updated limits on kube reserved cgroup /kube',
    },
  ] as const)('$who is held to what it reserves', ({ enforced, resources, event }) => {
    marbles(({ scheduler, expectObservable, flush }) => {
      const settings = {
        ...{ enforced: [enforced], systemReserved: reserved, kubeReserved: reserved },
        ...{ systemReservedCgroup: '/sys', kubeReservedCgroup: '/kube' },
      };
      const stage = stageOf(scheduler, { existing: ['/sys', '/kube'], settings });
      expectObservable(stage.prepare$).toBe('|');
      flush();
      const path = enforced.startsWith('system') ? '/sys' : '/kube';
      const { hugePages, ...rest } = stage.resources.get(path) ?? {};
      expect(rest).toEqual(resources);
      expect(hugePages?.size ?? 0).toBe(0);
      expect(stage.resources.has(path === '/sys' ? '/kube' : '/sys')).toBe(false);
      expect(stage.events).toEqual([`0 node Normal NodeAllocatableEnforced ${event}`]);
    })();
  });

  it(
    'that are not there stop the start',
    marbles(({ scheduler, expectObservable, flush }) => {
      const settings = { enforced: ['kube-reserved'] as const, kubeReservedCgroup: '/kube' };
      const stage = stageOf(scheduler, { settings });
      const problem =
        'Failed to enforce Kube Reserved Cgroup Limits on "/kube": cgroup ["kube"] has some missing paths: /kube';
      expectObservable(stage.prepare$).toBe('(e|)', { e: `NodeCgroupsError: ${problem}` });
      flush();
      expect(stage.events).toEqual([`0 node Warning FailedNodeAllocatableEnforcement ${problem}`]);
    }),
  );
});

it(
  'an agent without cgroups makes none, and ends what it has to do about them at once',
  marbles(({ scheduler, hot, expectObservable }) => {
    const { options } = stageOf(scheduler);
    const { activePods, recordEvent, log } = options;
    const none = kubeletCgroups({ activePods, recordEvent, log, scheduler, node: nodeFacts, metrics: noMetrics });
    expectObservable(
      concat(
        none.prepare$,
        none.tend(hot('h'), () => false),
      ),
    ).toBe('|');
  }),
);
