import { describe, expect, it } from 'vitest';
import { CpuRates } from '../../../src/model/stats/cpu-rates.js';
import { sampledPods } from '../../../src/model/stats/sampled-pods.js';
import {
  mergedUsage,
  summedUsage,
  type Usage,
  usageOfCgroup,
  usageOfNode,
  usageOfRuntime,
} from '../../../src/model/stats/usage.js';
import {
  START_MS,
  statsCgroup,
  statsContainer,
  statsPod,
  statsSandbox,
  textsV2,
  TOTALS,
} from '../../support/stats-parts.js';

const cgroup = (more: Readonly<Record<string, string>> = {}, rate?: number): Usage =>
  usageOfCgroup(statsCgroup('/a', textsV2(5, 3_000, more)), rate);
const ofRuntime = (nanoCores: bigint | undefined): Usage | undefined =>
  usageOfRuntime({
    cpu: {
      timestamp: 5_000_000n,
      usageCoreNanoSeconds: { value: 77n },
      usageNanoCores: nanoCores === undefined ? undefined : { value: nanoCores },
      psi: undefined,
    },
  });

describe('usage', () => {
  it.each([
    ['its limit, less the working set', '10000', 8_000],
    ['nothing above its limit', '1000', 0],
    ['no bytes without a limit', 'max', undefined],
  ])('has as available memory %s', (_, limit, available) => {
    expect(cgroup({ 'memory.max': limit }).available).toBe(available);
  });

  it.each([
    ['the rate of the runtime before its own', 5, 9n, 9],
    ['its own instead of a 0 of the runtime, which some report before the second sample', 5, 0n, 5],
    ['none if only a 0 of the runtime is known', undefined, 0n, undefined],
    ['0 if both are 0', 0, 0n, 0],
    ['its own without a runtime', 5, undefined, 5],
  ])('has %s', (_, own, runtime, expected) => {
    expect(mergedUsage(cgroup({}, own), ofRuntime(runtime))?.nanoCores).toBe(expected);
  });

  it('is completed by the runtime field by field', () => {
    const merged = mergedUsage({ ...cgroup(), cpuNs: undefined }, ofRuntime(undefined));
    expect([merged?.cpuNs, merged?.workingSet]).toEqual([77, 2_000]);
    expect(mergedUsage(undefined, ofRuntime(undefined))?.cpuNs).toBe(77);
    expect(mergedUsage(undefined, undefined)).toBeUndefined();
    expect(usageOfRuntime({})).toBeUndefined();
  });

  it('of a pod is the sum of its containers, without the figures that one of them lacks', () => {
    const sum = summedUsage([cgroup(), { ...cgroup(), rss: undefined }]);
    expect([sum?.cpuNs, sum?.workingSet, sum?.rss]).toEqual([10_000, 4_000, undefined]);
    expect(summedUsage([cgroup(), undefined])).toBeUndefined();
  });

  it('of the node is that of its root, completed by the machine, without huge pages', () => {
    const node = usageOfNode(usageOfCgroup(statsCgroup('/', { v1: {}, v2: {} })), {
      ...TOTALS,
      hugePageBytes: 100_000,
    });
    expect(node).toMatchObject({
      ...{ cpuNs: 9e9, memoryUsage: 600_000, workingSet: 550_000, available: 350_000, swapUsage: 0, swapAvailable: 0 },
    });
    expect(usageOfNode(cgroup(), { ...TOTALS, hugePageBytes: 2_000_000 }).available).toBe(0);
    expect(usageOfNode(cgroup(), { ...TOTALS, memory: undefined }).swapUsage).toBeUndefined();
  });
});

describe('rates', () => {
  it('are unknown for a first sample, and after a counter went backwards', () => {
    const rates = new CpuRates();
    expect(rates.rate('a', 0, 100)).toBeUndefined();
    expect(rates.rate('a', 2_000, 500)).toBe(200);
    expect(rates.rate('b', 2_000, 500)).toBeUndefined();
    expect(rates.rate('a', 4_000, 0)).toBeUndefined();
  });

  it('are forgotten with their keys', () => {
    const rates = new CpuRates();
    rates.rate('a', 0, 100);
    rates.retain(new Set(['b']));
    expect(rates.rate('a', 2_000, 500)).toBeUndefined();
  });
});

describe('the sampled pods', () => {
  const of = (
    pods: Parameters<typeof sampledPods>[0],
    sandboxes: Parameters<typeof sampledPods>[1],
    containers: Parameters<typeof sampledPods>[2],
  ) =>
    sampledPods(pods, sandboxes, containers).map(({ pod, sandbox, containers: inside }) => [
      pod.metadata.name,
      sandbox.id,
      inside.map(({ id }) => id),
    ]);

  it('are those with a start time in their status, each with its newest sandbox and the newest container of a name', () => {
    const containers = [
      statsContainer('a', 'main', { id: 'old', createdAt: 1n }),
      statsContainer('a', 'main', { id: 'new', createdAt: 2n }),
      statsContainer('a', 'main', { id: 'ended', createdAt: 3n, state: 'CONTAINER_EXITED' }),
      statsContainer('a', 'side', { id: 'side' }),
      statsContainer('b', 'main', { id: 'other' }),
    ];
    const sandboxes = [
      statsSandbox('a', 'sandbox-a', 2n),
      statsSandbox('a', 'sandbox-older', 1n),
      statsSandbox('b'),
      { ...statsSandbox('c'), state: 'SANDBOX_NOTREADY' as const },
    ];
    const pods = [statsPod('a'), statsPod('b', { startTime: '' }), statsPod('c')];
    expect(of(pods, sandboxes, containers)).toEqual([['a', 'sandbox-a', ['new', 'side']]]);
    expect(sampledPods(pods, sandboxes, containers)[0]?.startedAtMs).toBe(START_MS);
  });

  it('have the highest attempt of each, even if the clock was set back between them', () => {
    const later = <T extends { metadata: object | undefined }>(item: T): T => ({
      ...item,
      metadata: { ...item.metadata, attempt: 1 },
    });
    const containers = [
      later(statsContainer('a', 'main', { id: 'new', createdAt: 1n })),
      statsContainer('a', 'main', { id: 'old', createdAt: 2n }),
    ];
    const sandboxes = [later(statsSandbox('a', 'sandbox-a', 1n)), statsSandbox('a', 'sandbox-older', 2n)];
    for (const turned of [false, true]) {
      const inOrder = <T>(items: readonly T[]): readonly T[] => (turned ? items.toReversed() : items);
      expect(of([statsPod('a')], inOrder(sandboxes), inOrder(containers))).toEqual([['a', 'sandbox-a', ['new']]]);
    }
  });
});
