import { describe, expect, it } from 'vitest';
import type { CgroupReading, CgroupResources } from '../../../src/model/cgroups/cgroup-resources.js';
import type { Amounts } from '../../../src/model/pod/allocated-resources.js';
import type { ContainerUpdate } from '../../../src/model/resize/actuated.js';
import {
  memoryProblem,
  type ResizeInput,
  type ResizeStep,
  resizeSteps,
} from '../../../src/model/resize/resize-steps.js';
import { aContainer } from '../pods.js';

const MIB = 2n ** 20n;
const limits = (cpu: string, memory: string): Amounts => ({ limits: { cpu, memory }, requests: { cpu, memory } });
const update = (name: string, has: Amounts | undefined, wanted: Amounts): ContainerUpdate => ({
  ...{ id: `${name}-0`, has },
  container: aContainer(name, { resources: wanted }),
});
const has = (cpu: number, memory: bigint | undefined): CgroupReading => ({
  ...{ memory, cpuShares: cpu, cpuQuota: cpu * 100, memoryUsage: 20n * MIB },
});
const desired = (cpu: number, memory: bigint): CgroupResources => ({
  ...{ memory, cpuShares: cpu, cpuQuota: cpu * 100, cpuPeriod: 100_000 },
});

type Input = Omit<ResizeInput, 'pageSize'>;
const words = (step: ResizeStep): string => {
  if (step.kind === 'container') {
    const { cpu, memory } = step.amounts.limits ?? {};
    return `${step.container.name} ${cpu} ${memory}`;
  }
  return `pod ${Object.keys(step.resources).join('+')}`;
};
const steps = (input: Input): readonly string[] => resizeSteps({ ...input, pageSize: 4096n }).map(words);

const small = limits('100m', '30Mi');
const large = limits('200m', '60Mi');

describe('the writes of a resize', () => {
  it.each<[row: string, input: Input, writes: readonly string[]]>([
    [
      'an increase: the pod before its container, memory before CPU, the limit before the weight',
      {
        cgroup: { desired: desired(200, 60n * MIB), has: has(100, 30n * MIB) },
        updates: [update('web', small, large)],
      },
      ['pod memory', 'web 100m 60Mi', 'pod cpuQuota+cpuPeriod', 'pod cpuShares', 'web 200m 60Mi'],
    ],
    [
      'a decrease: the pod after its container, and the weight before the limit',
      {
        cgroup: { desired: desired(100, 30n * MIB), has: has(200, 60n * MIB) },
        updates: [update('web', large, small)],
      },
      ['web 200m 30Mi', 'pod memory', 'web 100m 30Mi', 'pod cpuShares', 'pod cpuQuota+cpuPeriod'],
    ],
    [
      'both in one pod: the one that shrinks first, and the pod not at all',
      {
        cgroup: { desired: desired(300, 90n * MIB), has: has(300, 90n * MIB) },
        updates: [update('up', small, large), update('down', large, small)],
      },
      ['down 200m 30Mi', 'up 100m 60Mi', 'down 100m 30Mi', 'up 200m 60Mi'],
    ],
    [
      'a decrease of CPU beside an increase of memory',
      {
        cgroup: { desired: desired(100, 60n * MIB), has: has(200, 30n * MIB) },
        updates: [update('web', limits('200m', '30Mi'), limits('100m', '60Mi'))],
      },
      ['pod memory', 'web 200m 60Mi', 'web 100m 60Mi', 'pod cpuShares', 'pod cpuQuota+cpuPeriod'],
    ],
    [
      'a first limit of the pod, which is there before that of the container',
      {
        cgroup: { desired: desired(100, 60n * MIB), has: has(100, undefined) },
        updates: [update('web', { requests: small.requests }, limits('100m', '60Mi'))],
      },
      ['pod memory', 'web undefined 60Mi', 'web 100m 60Mi'],
    ],
    [
      'a pod that wants no limit any more, and keeps the one it has',
      { cgroup: { desired: { cpuShares: 100 }, has: has(100, 30n * MIB) }, updates: [] },
      [],
    ],
    [
      'a limit that is no multiple of a page, of which the kernel has kept whole pages',
      { cgroup: { desired: desired(100, 50_000_000n), has: has(100, 49_999_872n) }, updates: [] },
      [],
    ],
    [
      'memory that is kept and throttled, each as far as the kernel does not have it',
      {
        cgroup: {
          desired: { memoryMin: 0n, memoryLow: 30n * MIB, memoryHigh: -1n },
          has: { ...has(100, undefined), memoryMin: 20n * MIB, memoryLow: 20n * MIB, memoryHigh: 20n * MIB },
        },
        updates: [],
      },
      ['pod memoryLow', 'pod memoryHigh', 'pod memoryMin'],
    ],
    [
      'memory that is kept and throttled as the kernel has it, in whole pages',
      {
        cgroup: {
          desired: { memoryMin: 4097n, memoryLow: 0n, memoryHigh: -1n },
          has: { ...has(100, undefined), memoryMin: 4096n, memoryLow: 0n, memoryHigh: -1n },
        },
        updates: [],
      },
      [],
    ],
    [
      'a pod without a cgroup',
      { cgroup: undefined, updates: [update('web', small, large)] },
      ['web 100m 60Mi', 'web 200m 60Mi'],
    ],
    [
      'an instance of another kubelet, whose amounts are not known',
      { cgroup: undefined, updates: [update('web', undefined, small)] },
      ['web 100m 30Mi', 'web 100m 30Mi'],
    ],
    [
      'an interrupted resize, of which the pod is left',
      { cgroup: { desired: desired(100, 30n * MIB), has: has(200, 30n * MIB) }, updates: [] },
      ['pod cpuShares', 'pod cpuQuota+cpuPeriod'],
    ],
  ])('of %s', (_, input, writes) => {
    expect(steps(input)).toEqual(writes);
  });

  it('compare weights in the scale of cgroup v2, where several shares have one weight', () => {
    const reading: CgroupReading = { memory: undefined, cpuQuota: -1, cpuWeight: 1, memoryUsage: 0n };
    const write = (cpuShares: number) => steps({ cgroup: { desired: { cpuShares }, has: reading }, updates: [] });
    expect([20, 2, 1024].map(write)).toEqual([[], [], ['pod cpuShares']]);
  });
});

describe('a resize to less memory', () => {
  const problem = (input: Input, pod: bigint | undefined, ofContainer?: bigint) =>
    memoryProblem({ ...input, pageSize: 4096n }, { pod, container: () => ofContainer });
  const less: Input = {
    cgroup: { desired: desired(100, 30n * MIB), has: has(100, 60n * MIB) },
    updates: [update('web', large, small)],
  };
  const OF_POD = 'attempting to set pod memory limit (31457280) below current usage (31457280)';
  const OF_WEB = 'attempting to set container "web" memory limit (31457280) below current usage (31457281)';

  it.each<[row: string, input: Input, pod: bigint | undefined, container: bigint | undefined, is: string | undefined]>([
    ['begins if the pod and the container use less', less, 30n * MIB - 1n, 1n, undefined],
    ['is refused if the pod uses as much', less, 30n * MIB, 1n, `cannot decrease memory limits: ${OF_POD}`],
    ['is refused if the container uses more', less, 1n, 30n * MIB + 1n, `cannot decrease memory limits: ${OF_WEB}`],
    [
      'is refused with both reasons',
      less,
      30n * MIB,
      30n * MIB + 1n,
      `cannot decrease memory limits: [${OF_POD}, ${OF_WEB}]`,
    ],
    [
      'is refused if the use of the pod is not known',
      less,
      undefined,
      undefined,
      'cannot decrease memory limits: missing pod memory usage',
    ],
    [
      'of the pod alone is no decrease where there was no limit',
      { cgroup: { desired: desired(100, 30n * MIB), has: has(100, undefined) }, updates: [] },
      40n * MIB,
      undefined,
      undefined,
    ],
    [
      'is refused for a container that gets its first limit below its use',
      { cgroup: undefined, updates: [update('web', { requests: {} }, small)] },
      undefined,
      30n * MIB + 1n,
      `cannot decrease memory limits: ${OF_WEB}`,
    ],
    [
      'is no matter of an increase',
      { cgroup: undefined, updates: [update('web', small, large)] },
      undefined,
      90n * MIB,
      undefined,
    ],
  ])('%s', (_, input, pod, container, is) => {
    expect(problem(input, pod, container)).toBe(is);
  });
});
