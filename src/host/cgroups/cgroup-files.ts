import { cpuWeight } from '../../model/cgroups/cpu-weight.js';
import { pageSizeName } from '../../model/cri/linux-resources.js';
import type { CgroupResources } from '../../model/cgroups/cgroup-resources.js';

/** A file to write in the cgroup's directory in the hierarchy of this controller. */
export interface CgroupFile {
  readonly controller: 'cpu' | 'cpuset' | 'memory' | 'pids' | 'hugetlb';
  readonly file: string;
  readonly value: string;
}

/** The differences between machines beside the version. */
export interface CgroupFeatures {
  /** The kernel limits huge pages by cgroup. */
  readonly hasHugetlb: boolean;
  /** Bytes per page of each kind of huge page that the kernel has. */
  readonly hugePageSizes: readonly bigint[];
}

/** Returns the writes of cgroup v1, in order. */
export const v1Files = (resources: CgroupResources, features: CgroupFeatures): readonly CgroupFile[] => {
  const { cpuShares, cpuQuota, cpuPeriod, memory, pids, cpus } = resources;
  return [
    ...setting('cpu', 'cpu.shares', cpuShares),
    // The present quota may not fit the period; the caller repeats refused writes.
    ...setting('cpu', 'cpu.cfs_period_us', cpuPeriod),
    ...setting('cpu', 'cpu.cfs_quota_us', cpuQuota),
    ...setting('memory', 'memory.limit_in_bytes', memory),
    ...setting('pids', 'pids.max', pids),
    ...setting('cpuset', 'cpuset.cpus', cpus),
    ...hugePageFiles(resources, features, 'limit_in_bytes'),
  ];
};

/** Returns the writes of cgroup v2, in order. Source: opencontainers/cgroups fs2. */
export const v2Files = (resources: CgroupResources, features: CgroupFeatures): readonly CgroupFile[] => {
  const { cpuShares, cpuQuota = 0, cpuPeriod = 0, memory, memoryMin, memoryLow, memoryHigh, pids, cpus } = resources;
  const quota = cpuQuota > 0 ? String(cpuQuota) : 'max';
  const max = cpuQuota === 0 && cpuPeriod === 0 ? undefined : `${quota} ${cpuPeriod > 0 ? cpuPeriod : 100_000}`;
  return [
    ...setting('cpu', 'cpu.weight', cpuShares && cpuWeight(cpuShares)),
    ...setting('cpu', 'cpu.max', max),
    ...setting('memory', 'memory.max', memory),
    ...setting('memory', 'memory.min', memoryMin?.toString()),
    ...setting('memory', 'memory.low', memoryLow?.toString()),
    ...setting('memory', 'memory.high', memoryHigh !== undefined && memoryHigh < 0n ? 'max' : memoryHigh),
    ...setting('pids', 'pids.max', pids),
    ...setting('cpuset', 'cpuset.cpus', cpus),
    ...hugePageFiles(resources, features, 'max'),
  ];
};

/** An absent value and 0 leave the file unchanged. */
const setting = (
  controller: CgroupFile['controller'],
  file: string,
  value: number | bigint | string | undefined,
): readonly CgroupFile[] => (!value ? [] : [{ controller, file, value: String(value) }]);

const hugePageFiles = (
  { hugePages }: CgroupResources,
  { hasHugetlb, hugePageSizes }: CgroupFeatures,
  ending: string,
): readonly CgroupFile[] => {
  if (!hasHugetlb || !hugePages) return [];
  return hugePageSizes.map((size) => ({
    controller: 'hugetlb',
    file: `hugetlb.${pageSizeName(size)}.${ending}`,
    value: String(hugePages.get(size) ?? 0n),
  }));
};
