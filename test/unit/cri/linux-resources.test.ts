import { describe, expect, it } from 'vitest';
import { containerLinuxResources, cpuQuota, cpuShares, oomScoreAdj } from '../../../src/model/cri/linux-resources.js';
import type { Container, Pod, PodSpec } from '../../../src/model/pod/pod.js';
import { aContainer, aNode, aPod } from '../pods.js';

it.each([
  [0, 2],
  [1, 2],
  [10, 10],
  [250, 256],
  [1000, 1024],
  [1_000_000, 262_144],
])('%i millicores are %i shares', (milliCpu, shares) => {
  expect(cpuShares(milliCpu)).toBe(shares);
});

it.each([
  [0, 100_000, 0],
  [5, 100_000, 1000],
  [250, 100_000, 25_000],
  [1500, 100_000, 150_000],
  [250, 10_000, 2500],
])('%i millicores in %i µs are a quota of %i µs', (milliCpu, period, quota) => {
  expect(cpuQuota(milliCpu, period)).toBe(quota);
});

describe('containerLinuxResources', () => {
  const of = (resources: Container['resources'], node = {}, spec: Partial<PodSpec> = {}) => {
    const container = aContainer('web', { resources });
    return containerLinuxResources(aPod({ containers: [container], ...spec }), container, aNode(node));
  };

  it('has requests as shares, limits as quota and bytes', () => {
    expect(of({ requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } })).toEqual({
      cpuShares: 256n,
      cpuPeriod: 100_000n,
      cpuQuota: 50_000n,
      memoryLimitInBytes: 134_217_728n,
      oomScoreAdj: 993n,
      hugepageLimits: [],
    });
  });

  it.each<[row: string, resources: Container['resources'], node: object, spec: Partial<PodSpec>, expected: object]>([
    ['no request: shares of the limit', { limits: { cpu: '2' } }, {}, {}, { cpuShares: 2048n, cpuQuota: 200_000n }],
    ['a request of zero counts', { requests: { cpu: '0' }, limits: { cpu: '2' } }, {}, {}, { cpuShares: 2n }],
    ['nothing', undefined, {}, {}, { cpuShares: 2n, cpuQuota: 0n, memoryLimitInBytes: 0n, oomScoreAdj: 1000n }],
    [
      'limits of the pod where the container has none',
      { limits: { cpu: '1' } },
      {},
      { resources: { limits: { cpu: '4', memory: '1Gi' } } },
      { cpuQuota: 100_000n, memoryLimitInBytes: 1_073_741_824n },
    ],
    [
      'limits of the pod where those of the container are 0',
      { limits: { cpu: '0', memory: '0' } },
      {},
      { resources: { limits: { cpu: '4', memory: '1Gi' } } },
      { cpuQuota: 400_000n, memoryLimitInBytes: 1_073_741_824n },
    ],
    [
      'huge pages of every size',
      { limits: { 'hugepages-2Mi': '4Mi' } },
      { hugePageSizes: [2_097_152n, 1_073_741_824n, 65_536n] },
      {},
      {
        hugepageLimits: [
          { pageSize: '2MB', limit: 4_194_304n },
          { pageSize: '1GB', limit: 0n },
          { pageSize: '64KB', limit: 0n },
        ],
      },
    ],
    [
      'settings of cgroup v2',
      {},
      { killsWholeContainerOnOom: true, limitsSwap: true },
      {},
      { unified: { 'memory.oom.group': '1', 'memory.swap.max': '0' } },
    ],
    [
      'memory of cgroup v2 that is neither kept nor throttled: nothing is asked for',
      { requests: { memory: '64Mi' } },
      { memoryQos: { keepsRequests: false } },
      {},
      { memoryLimitInBytes: 0n },
    ],
  ])('%s', (_, resources, node, spec, expected) => {
    expect(of(resources, node, spec)).toMatchObject(expected);
  });

  it('sets no quota where that is switched off', () => {
    const resources = of({ limits: { cpu: '1' } }, { cpuCfsQuota: false });
    expect(resources).not.toHaveProperty('cpuQuota');
    expect(resources).not.toHaveProperty('cpuPeriod');
  });
});

describe('oomScoreAdj, with 8 GiB', () => {
  const GIB = 1024n ** 3n;
  const asks = (name: string, memory?: string, fields: Partial<Container> = {}) =>
    aContainer(name, { resources: memory ? { requests: { memory } } : {}, ...fields });
  const all = { cpu: '1', memory: '1Gi' };
  const guaranteed = aContainer('web', { resources: { requests: all, limits: all } });
  const critical: Partial<PodSpec> = { priority: 2_000_001_000, priorityClassName: 'system-node-critical' };
  const side = asks('side', '1Gi', { restartPolicy: 'Always' });

  it.each<[row: string, pod: Pod, container: Container, score: number]>([
    ['node-critical', aPod(critical), aContainer('web'), -997],
    ['cluster-critical alone is not enough', aPod({ priority: 2_000_000_000 }), aContainer('web'), 1000],
    ['Guaranteed', aPod({ containers: [guaranteed] }), guaranteed, -997],
    ['BestEffort', aPod(), aContainer('web'), 1000],
    ['Burstable, an eighth', aPod({ containers: [asks('web', '1Gi')] }), asks('web', '1Gi'), 875],
    ['Burstable, nearly nothing', aPod({ containers: [asks('web', '1Mi')] }), asks('web', '1Mi'), 999],
    ['Burstable, everything', aPod({ containers: [asks('web', '8Gi')] }), asks('web', '8Gi'), 3],
    [
      'a container without a request in a Burstable pod',
      aPod({ containers: [asks('web', '1Gi'), asks('b')] }),
      asks('b'),
      999,
    ],
    [
      'a sidecar as its neighbour that asks for most',
      aPod({ containers: [asks('web', '4Gi')], initContainers: [side] }),
      side,
      500,
    ],
    ['a sidecar that asks for more', aPod({ containers: [asks('web', '512Mi')], initContainers: [side] }), side, 875],
    [
      'what the pod asks for beyond its containers is shared',
      aPod({ containers: [asks('web', '1Gi'), asks('b', '1Gi')], resources: { requests: { memory: '4Gi' } } }),
      asks('web', '1Gi'),
      750,
    ],
  ])('%s', (_, pod, container, score) => {
    expect(oomScoreAdj(pod, container, 8n * GIB)).toBe(score);
  });
});
