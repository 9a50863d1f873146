import { existsSync, readFileSync } from 'node:fs';

/** What the cgroups of a process allow it; shares are those of cgroup v1. */
export interface Limits {
  /** Bytes. */
  readonly memory: number;
  /** Microseconds per period; `Infinity` without a limit. */
  readonly cpuQuota: number;
  readonly cpuPeriod: number;
  readonly cpuShares: number;
}

/** Reads the limits of a process where the kernel holds them, in cgroups v1 or v2. */
export const limitsOf = (pid: number): Limits => {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('\n');
  const pathIn = (controller: string): string => {
    const line = groups.find((group) => group.split(':')[1]?.split(',').includes(controller));
    return line?.split(':').slice(2).join(':') ?? '';
  };
  const read = (path: string): string => readFileSync(`/sys/fs/cgroup/${path}`, 'utf8').trim();
  if (existsSync('/sys/fs/cgroup/cgroup.controllers')) {
    const own = pathIn('');
    const [quota, period] = read(`${own}/cpu.max`).split(' ');
    return {
      memory: orInfinity(read(`${own}/memory.max`)),
      cpuQuota: orInfinity(quota),
      cpuPeriod: Number(period),
      // What runc makes weights of.
      cpuShares: Math.round(((Number(read(`${own}/cpu.weight`)) - 1) * 262_142) / 9_999 + 2),
    };
  }
  const memory = Number(read(`memory${pathIn('memory')}/memory.limit_in_bytes`));
  const cpu = (file: string) => Number(read(`cpu${pathIn('cpu')}/${file}`));
  return {
    // The kernel says "no limit" with the greatest multiple of a page.
    memory: memory > 2 ** 60 ? Infinity : memory,
    cpuQuota: cpu('cpu.cfs_quota_us') < 0 ? Infinity : cpu('cpu.cfs_quota_us'),
    cpuPeriod: cpu('cpu.cfs_period_us'),
    cpuShares: cpu('cpu.shares'),
  };
};

const orInfinity = (text: string | undefined): number => (text === 'max' ? Infinity : Number(text));
