import { describe, expect, it } from 'vitest';
import type { CgroupResources } from '../../../src/model/cgroups/cgroup-resources.js';
import {
  allocatableForPods,
  kubepodsResources,
  reservationProblem,
  reservedResources,
  tierResources,
} from '../../../src/model/cgroups/node-cgroup-resources.js';
import { podCgroup, podCgroupsAmong, podParents, podUidOf } from '../../../src/model/cgroups/pod-cgroup-name.js';
import { podCgroupResources } from '../../../src/model/cgroups/pod-cgroup-resources.js';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import { quantity } from '../../../src/model/resources/quantity.js';
import { aContainer, aPod } from '../pods.js';

const MEBI = 1n << 20n;
type Resources = NonNullable<PodSpec['resources']>;
const of = (resources: Resources, name = 'main') => aContainer(name, { resources });
const sidecar = (resources: Resources) => ({ ...of(resources, 'side'), restartPolicy: 'Always' });
const limits = (amounts: Record<string, string>) => ({ requests: amounts, limits: amounts });
const pod = (spec: Partial<PodSpec>) => aPod(spec);

it.each<[row: string, init: PodSpec['initContainers'], limited: boolean]>([
  ['one without a limit: no', [aContainer('i')], false],
  ['one after a sidecar with a limit', [sidecar({ limits: { memory: '1Mi' } }), aContainer('i')], true],
  ['one before it: no', [aContainer('i'), sidecar({ limits: { memory: '1Mi' } })], false],
  ['a sidecar without a limit after one with it', [sidecar({ limits: { memory: '1Mi' } }), sidecar({})], true],
])('counts the memory of a pod as limited by init containers: %s', (_, initContainers, limited) => {
  const node = { cpuCfsQuota: true, cpuCfsQuotaPeriodMicros: 100_000, podPidsLimit: -1 };
  const one = pod({ containers: [of({ limits: { memory: '1Mi' } })], initContainers });
  expect(podCgroupResources(one, node).memory !== undefined).toBe(limited);
});

const guaranteed = pod({ containers: [of(limits({ cpu: '500m', memory: '64Mi' }))] });
const burstable = pod({ containers: [of({ requests: { cpu: '250m' } })] });
const bestEffort = pod({ containers: [aContainer('main')] });

describe('the cgroup of a pod', () => {
  const { uid } = guaranteed.metadata;
  it.each([
    ['guaranteed', guaranteed, ['kubepods', `pod${uid}`]],
    ['burstable', burstable, ['kubepods', 'burstable', `pod${uid}`]],
    ['best effort', bestEffort, ['kubepods', 'besteffort', `pod${uid}`]],
  ])('that is %s', (_, one, name) => {
    expect(podCgroup([], one)).toEqual(name);
    expect(podCgroup(['mine'], one)).toEqual(['mine', ...name]);
    expect(podUidOf(podCgroup([], one))).toBe(uid);
  });

  it('is refused for a UID that is no name', () => {
    const odd = aPod({}, { uid: 'a_b' });
    expect(() => podCgroup([], odd)).toThrow('"poda_b" cannot be part of the name of a cgroup');
  });

  it('is found among others by its name', () => {
    const names = [
      ['kubepods', 'burstable'],
      ['kubepods', 'besteffort'],
      ['kubepods', 'poduid-1'],
      ['kubepods', 'burstable', 'poduid-2'],
      ['kubepods', 'burstable', 'crio-1'],
      ['kubepods', 'pod'],
    ];
    expect(podCgroupsAmong(names)).toEqual([
      { uid: 'uid-1', name: names[2] },
      { uid: 'uid-2', name: names[3] },
    ]);
    expect(podUidOf([])).toBeUndefined();
  });

  it('has its parents before it', () => {
    expect(podParents(['mine'])).toEqual([
      ['mine', 'kubepods'],
      ['mine', 'kubepods', 'burstable'],
      ['mine', 'kubepods', 'besteffort'],
    ]);
  });
});

describe('what the cgroup of a pod gets', () => {
  const cpu = (cpuShares: number, cpuQuota: number) => ({ cpuShares, cpuQuota, cpuPeriod: 100_000 });
  const half = of(limits({ cpu: '500m', memory: '64Mi' }), 'half');
  const asking = of({ requests: { cpu: '1', memory: '10Mi' } }, 'asking');
  const cpuLimited = of({ requests: { cpu: '100m' }, limits: { cpu: '200m' } }, 'cpu');
  const memoryLimited = of({ limits: { memory: '32Mi' }, requests: { memory: '16Mi' } }, 'memory');
  it.each<[row: string, spec: Partial<PodSpec>, Omit<CgroupResources, 'hugePages'>]>([
    ['guaranteed: everything', { containers: [half] }, { ...cpu(512, 50_000), memory: 64n * MEBI }],
    [
      'guaranteed with two containers: their sum',
      { containers: [half, { ...half, name: 'other' }] },
      { ...cpu(1024, 100_000), memory: 128n * MEBI },
    ],
    ['burstable without limits: a weight', { containers: [asking] }, { cpuShares: 1024 }],
    [
      'burstable, every container limits its CPU time: that, too',
      { containers: [cpuLimited, { ...cpuLimited, name: 'other' }] },
      cpu(204, 40_000),
    ],
    ['burstable, one container does not', { containers: [cpuLimited, asking] }, { cpuShares: 1126 }],
    [
      'burstable, an init container does not',
      { containers: [cpuLimited], initContainers: [of({ requests: { cpu: '100m' } }, 'init')] },
      { cpuShares: 102 },
    ],
    [
      'burstable, every container limits its memory: that, too',
      { containers: [memoryLimited] },
      { cpuShares: 2, memory: 32n * MEBI },
    ],
    [
      'burstable, one container does not limit its memory',
      { containers: [memoryLimited, asking] },
      { cpuShares: 1024 },
    ],
    [
      'burstable, the pod has limits',
      { resources: { requests: { cpu: '1' }, limits: { cpu: '2', memory: '1Gi' } }, containers: [asking] },
      { ...cpu(1024, 200_000), memory: 1024n * MEBI },
    ],
    ['best effort: the least weight', { containers: [aContainer('main')] }, { cpuShares: 2 }],
    [
      'the overhead of the sandbox counts',
      { containers: [half], overhead: { cpu: '250m', memory: '16Mi' } },
      { ...cpu(768, 75_000), memory: 80n * MEBI },
    ],
  ])('%s', (_, spec, resources) => {
    const settings = { podPidsLimit: -1, cpuCfsQuota: true, cpuCfsQuotaPeriodMicros: 100_000 };
    expect(podCgroupResources(pod(spec), settings)).toEqual({ ...resources, hugePages: new Map() });
  });

  it.each<[row: string, settings: Partial<Parameters<typeof podCgroupResources>[1]>, Partial<CgroupResources>]>([
    ['no quota where the node has none', { cpuCfsQuota: false }, { cpuQuota: -1, cpuPeriod: 100_000 }],
    ['the period of the node', { cpuCfsQuotaPeriodMicros: 20_000 }, { cpuQuota: 10_000, cpuPeriod: 20_000 }],
    ['as many tasks as the node allows', { podPidsLimit: 50 }, { pids: 50n }],
    ['no limit of tasks when that is 0', { podPidsLimit: 0 }, {}],
  ])('%s', (_, settings, resources) => {
    const usual = { ...cpu(512, 50_000), memory: 64n * MEBI, hugePages: new Map() };
    const all = { podPidsLimit: -1, cpuCfsQuota: true, cpuCfsQuotaPeriodMicros: 100_000, ...settings };
    expect(podCgroupResources(guaranteed, all)).toEqual({ ...usual, ...resources });
  });

  it('huge pages as requested', () => {
    const resources = limits({ 'hugepages-2Mi': '4Mi', 'hugepages-1Gi': '1Gi', cpu: '1' });
    const settings = { podPidsLimit: -1, cpuCfsQuota: true, cpuCfsQuotaPeriodMicros: 100_000 };
    expect(podCgroupResources(pod({ containers: [of(resources)] }), settings).hugePages).toEqual(
      new Map([
        [2n * MEBI, 4n * MEBI],
        [1024n * MEBI, 1024n * MEBI],
      ]),
    );
  });
});

const capacity = new Map(
  Object.entries({ cpu: '4', memory: '8Gi', pid: '32768', 'hugepages-2Mi': '10Mi' }).map(
    ([name, text]) => [name, quantity(text)] as const,
  ),
);

describe('what all pods together get', () => {
  const reserved = {
    systemReserved: { cpu: '500m', memory: '1Gi', pid: '1000', 'ephemeral-storage': '1Gi' },
    kubeReserved: { cpu: '500m', memory: '512Mi' },
  };
  const pages = (bytes: bigint) => new Map([[2n * MEBI, bytes]]);
  it.each<[row: string, Parameters<typeof kubepodsResources>[1], CgroupResources]>([
    [
      'the capacity without what is reserved',
      { ...reserved, enforced: ['pods'] },
      { cpuShares: 3072, memory: 6656n * MEBI, pids: 31768n, hugePages: pages(10n * MEBI) },
    ],
    [
      'the capacity where pods are not held to it',
      { ...reserved, enforced: [] },
      { cpuShares: 4096, memory: 8192n * MEBI, pids: 32768n, hugePages: pages(10n * MEBI) },
    ],
    [
      'the capacity where nothing is reserved',
      { systemReserved: {}, kubeReserved: {}, enforced: ['pods'] },
      { cpuShares: 4096, memory: 8192n * MEBI, pids: 32768n, hugePages: pages(10n * MEBI) },
    ],
  ])('%s', (_, settings, resources) => expect(kubepodsResources(capacity, settings)).toEqual(resources));

  it('is never less than nothing', () => {
    const left = allocatableForPods(capacity, { systemReserved: { cpu: '3' }, kubeReserved: { cpu: '2' } });
    expect(left.get('cpu')).toBe(0n);
  });

  it('is an error when more is reserved than the node has', () => {
    expect(reservationProblem(capacity, reserved)).toBeUndefined();
    expect(reservationProblem(capacity, { systemReserved: { memory: '8Gi' }, kubeReserved: { memory: '1Gi' } })).toBe(
      'invalid Node Allocatable configuration. Resource "memory" has a reservation of 9Gi but capacity of 8Gi. ' +
        'Expected capacity >= reservation.',
    );
  });
});

describe('what a reserved part of the system gets', () => {
  const reserved = { cpu: '500m', memory: '1Gi', pid: '1000', 'ephemeral-storage': '1Gi' };
  it.each<[row: string, compressibleOnly: boolean, reserved: Record<string, string>, CgroupResources]>([
    [
      'all that it reserves',
      false,
      reserved,
      { cpuShares: 512, memory: 1024n * MEBI, pids: 1000n, hugePages: new Map() },
    ],
    ['only its weight', true, reserved, { cpuShares: 512 }],
    ['nothing that it does not reserve', false, { memory: '1Gi' }, { memory: 1024n * MEBI, hugePages: new Map() }],
    ['no weight that it does not reserve', true, { memory: '1Gi' }, {}],
  ])('%s', (_, compressibleOnly, amounts, resources) => {
    expect(reservedResources(amounts, { compressibleOnly })).toEqual(resources);
  });
});

describe('what a QoS class gets', () => {
  const unbounded = new Map([[2n * MEBI, 1n << 62n]]);
  const more = pod({ ...burstable.spec, overhead: { cpu: '750m' } });
  it.each<[row: string, tier: 'burstable' | 'besteffort', pods: readonly (typeof burstable)[], cpuShares: number]>([
    ['burstable without pods', 'burstable', [], 2],
    ['burstable: what its pods ask for', 'burstable', [burstable, more], 1280],
    ['burstable: no other pods count', 'burstable', [guaranteed, bestEffort], 2],
    ['best effort: always the least', 'besteffort', [burstable, bestEffort], 2],
  ])('%s', (_, tier, pods, cpuShares) => {
    expect(tierResources(tier, pods, [2n * MEBI])).toEqual({ cpuShares, hugePages: unbounded });
  });
});
