import { describe, expect, it } from 'vitest';
import type { CgroupReading, CgroupResources } from '../../../src/model/cgroups/cgroup-resources.js';
import { sharesOfWeight } from '../../../src/model/cgroups/cpu-weight.js';
import { sandboxResources } from '../../../src/model/resize/sandbox-resources.js';

const MIB = 1n << 20n;
const v1: CgroupReading = { memory: 64n * MIB, cpuQuota: 50_000, cpuShares: 512, memoryUsage: 0n };
const v2: CgroupReading = { memory: undefined, cpuQuota: -1, cpuWeight: 20, memoryUsage: 0n };
const overhead = { cpu: '100m', memory: '16Mi' };

describe('what a sandbox has after a write to the cgroup of its pod', () => {
  it.each<[row: string, CgroupReading, CgroupResources, object | undefined, string]>([
    ['is what was written, beside what there was', v1, { memory: 96n * MIB }, undefined, `512 50000 ${96n * MIB}`],
    ['is the limit of CPU time that was written', v1, { cpuQuota: 70_000 }, undefined, `512 70000 ${64n * MIB}`],
    ['has no limits where there are none', v2, { cpuShares: 1024 }, undefined, '1024 -1 0'],
    ['has shares instead of a weight', v2, { memory: 32n * MIB }, undefined, `500 -1 ${32n * MIB}`],
    ['is without the overhead', v1, { memory: 96n * MIB }, overhead, `409 40000 ${80n * MIB}`],
    ['has no less than the least weight', v1, { cpuShares: 51 }, overhead, `2 40000 ${48n * MIB}`],
    ['has no limits without the overhead either', v2, { cpuShares: 1024 }, overhead, '921 -1 0'],
  ])('%s', (_, has, written, of, expected) => {
    const options = { periodMicros: 100_000, ...(of && { overhead: overhead }) };
    const { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes } = sandboxResources(has, written, options);
    expect(`${cpuShares} ${cpuQuota} ${memoryLimitInBytes}`).toBe(expected);
    expect(cpuPeriod).toBe(100_000n);
  });
});

it.each([
  [1, 2],
  [20, 500],
  [39, 998],
  [10_000, 262_144],
])('the weight %i are %i shares', (weight, shares) => {
  expect(sharesOfWeight(weight)).toBe(shares);
});
