import { catchError, concat, of, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
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

const stageOf = (
  scheduler: SchedulerLike,
  {
    existing = [],
    settings = {},
    version = 2,
  }: {
    readonly existing?: readonly string[];
    readonly settings?: Partial<CgroupSettings>;
    readonly version?: 1 | 2;
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
