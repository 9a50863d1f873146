import { describe, expect, it } from 'vitest';
import { type CgroupFeatures, v1Files, v2Files } from '../../../src/host/cgroups/cgroup-files.js';
import { cpuWeight } from '../../../src/model/cgroups/cpu-weight.js';
import type { CgroupResources } from '../../../src/model/cgroups/cgroup-resources.js';

const MEBI = 1n << 20n;
const none: CgroupFeatures = { hasHugetlb: false, hugePageSizes: [2n * MEBI] };
const huge: CgroupFeatures = { hasHugetlb: true, hugePageSizes: [2n * MEBI, 1024n * MEBI] };

it.each([
  [2, 1],
  [3, 1],
  [102, 4],
  [256, 10],
  [1024, 39],
  [2048, 79],
  [262_143, 9_999],
  [262_144, 10_000],
  [300_000, 10_000],
])('%i shares weigh %i under cgroup v2', (shares, weight) => expect(cpuWeight(shares)).toBe(weight));

describe('files of a cgroup', () => {
  it.each<[row: string, resources: CgroupResources, v1: readonly string[], v2: readonly string[], CgroupFeatures?]>([
    ['nothing', {}, [], []],
    ['a weight', { cpuShares: 1024 }, ['cpu.shares 1024'], ['cpu.weight 39']],
    [
      'a limit of CPU time',
      { cpuShares: 2, cpuQuota: 50_000, cpuPeriod: 100_000 },
      ['cpu.shares 2', 'cpu.cfs_period_us 100000', 'cpu.cfs_quota_us 50000'],
      ['cpu.weight 1', 'cpu.max 50000 100000'],
    ],
    [
      'no limit of CPU time',
      { cpuQuota: -1, cpuPeriod: 20_000 },
      ['cpu.cfs_period_us 20000', 'cpu.cfs_quota_us -1'],
      ['cpu.max max 20000'],
    ],
    ['a quota without a period', { cpuQuota: 5_000 }, ['cpu.cfs_quota_us 5000'], ['cpu.max 5000 100000']],
    ['memory', { memory: 64n * MEBI }, ['memory.limit_in_bytes 67108864'], ['memory.max 67108864']],
    ['tasks', { pids: 100n }, ['pids.max 100'], ['pids.max 100']],
    ['CPUs', { cpus: '0-3' }, ['cpuset.cpus 0-3'], ['cpuset.cpus 0-3']],
    ['limits of 0 leave the limits', { cpuShares: 0, cpuQuota: 0, cpuPeriod: 0, memory: 0n, pids: 0n }, [], []],
    ['huge pages where the kernel does not limit them', { hugePages: new Map([[2n * MEBI, 4n * MEBI]]) }, [], []],
    [
      'huge pages, none of the sizes that are not named',
      { hugePages: new Map([[2n * MEBI, 4n * MEBI]]) },
      ['hugetlb.2MB.limit_in_bytes 4194304', 'hugetlb.1GB.limit_in_bytes 0'],
      ['hugetlb.2MB.max 4194304', 'hugetlb.1GB.max 0'],
      huge,
    ],
    ['huge pages that nothing is said of', { cpuShares: 2 }, ['cpu.shares 2'], ['cpu.weight 1'], huge],
  ])('%s', (_, resources, v1, v2, features = none) => {
    const lines = (files: ReturnType<typeof v1Files>) => files.map(({ file, value }) => `${file} ${value}`);
    expect(lines(v1Files(resources, features))).toEqual(v1);
    expect(lines(v2Files(resources, features))).toEqual(v2);
  });

  it('are in the tree of their controller', () => {
    const all = { cpuShares: 2, memory: 1n, pids: 1n, cpus: '0', hugePages: new Map() };
    for (const files of [v1Files(all, huge), v2Files(all, huge)]) {
      for (const { controller, file } of files) expect(file.startsWith(`${controller}.`)).toBe(true);
    }
  });
});
