import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { CgroupDriver } from '../../model/cgroups/cgroup-name.js';
import { type CgroupMounts, cgroupMounts } from '../../model/cgroups/cgroup-mounts.js';
import type { ResourceAmounts } from '../../model/pod-resources.js';
import { quantity } from '../../model/quantity.js';
import type { Cgroups } from '../../streams/ports.js';
import { cgroupfs } from './cgroup-files-adapter.js';
import { cgroupV1 } from './cgroup-v1.js';
import { cgroupV2 } from './cgroup-v2.js';
import { systemdCgroups } from './systemd-cgroups.js';

/**
 * The cgroups of this machine.
 *
 * Errors: throws where none are mounted, and where systemd is asked for but does not run.
 */
export const hostCgroups = (driver: CgroupDriver): Cgroups => {
  const mounts = cgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
  const files = filesOf(mounts);
  return driver === 'systemd' ? systemdCgroups(files, { allCpus: allCpus() }) : cgroupfs(files);
};

/** Source: pkg/kubelet/kubelet_linux.go and opencontainers/cgroups IsCgroup2UnifiedMode. */
export const isCgroupV1 = (): boolean => !existsSync('/sys/fs/cgroup/cgroup.controllers');

/**
 * What the machine has that cgroups can share out: `cpu`, `memory`, `pid`, and `hugepages-<size>`.
 *
 * Source: pkg/kubelet/cadvisor/util.go CapacityFromMachineInfo, pkg/kubelet/stats/pidlimit/pidlimit_linux.go
 */
export const cgroupCapacity = (): ResourceAmounts => {
  const tasks = ['pid_max', 'threads-max'].flatMap((name) => numberIn(`/proc/sys/kernel/${name}`) ?? []);
  const pages = hugePages().map(({ name, kibibytes }) => {
    const count = numberIn(`/sys/kernel/mm/hugepages/${name}/nr_hugepages`) ?? 0;
    return [`hugepages-${sizeText(kibibytes)}`, quantity(`${count * kibibytes}Ki`)] as const;
  });
  return new Map([
    ['cpu', quantity(String(cpus().length || availableParallelism()))],
    ['memory', quantity(String(totalmem()))],
    ...(tasks.length > 0 ? [['pid', quantity(String(Math.min(...tasks)))] as const] : []),
    ...pages,
  ]);
};

const filesOf = (mounts: CgroupMounts) => {
  const sizes = hugePages().map(({ kibibytes }) => BigInt(kibibytes) * 1024n);
  const [unified] = mounts.hierarchies;
  return mounts.version === 2 && unified ? cgroupV2(unified, sizes) : cgroupV1(mounts, sizes);
};

/** Every kind of huge page that the kernel has. */
const hugePages = (): readonly { readonly name: string; readonly kibibytes: number }[] => {
  const folder = '/sys/kernel/mm/hugepages';
  return (existsSync(folder) ? readdirSync(folder) : []).flatMap((name) => {
    const [, kibibytes] = /^hugepages-(\d+)kB$/.exec(name) ?? [];
    return kibibytes === undefined ? [] : [{ name, kibibytes: Number(kibibytes) }];
  });
};

const sizeText = (kibibytes: number): string => {
  if (kibibytes % 2 ** 20 === 0) return `${kibibytes / 2 ** 20}Gi`;
  return kibibytes % 1024 === 0 ? `${kibibytes / 1024}Mi` : `${kibibytes}Ki`;
};

const numberIn = (path: string): number | undefined => {
  try {
    const value = Number(readFileSync(path, 'utf8').trim());
    return Number.isSafeInteger(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** CPUs that are switched on, as the kernel lists them. */
const allCpus = (): string => readFileSync('/sys/devices/system/cpu/online', 'utf8').trim();
