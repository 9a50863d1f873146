import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import type { CgroupDriver } from '../../model/cgroups/cgroup-name.js';
import { type CgroupMounts, cgroupMounts } from '../../model/cgroups/cgroup-mounts.js';
import { hugePagesName } from '../../model/node/node-resources.js';
import type { ResourceAmounts } from '../../model/resources/pod-resources.js';
import { quantity } from '../../model/resources/quantity.js';
import type { Cgroups } from '../../streams/ports/cgroups.js';
import { hugePages } from '../facts/huge-pages.js';
import { isThere, namesIfThere, readIfThere } from '../files/read-if-there.js';
import { cgroupfs } from './cgroupfs.js';
import { cgroupV1 } from './cgroup-v1.js';
import { cgroupV2 } from './cgroup-v2.js';
import { processorCount } from '../facts/processor-count.js';
import { systemdCgroups } from './systemd-cgroups.js';

/**
 * The cgroups of this machine.
 *
 * Errors: throws on a machine without cgroups, and for the driver `systemd` on a machine without systemd.
 */
export const hostCgroups = (driver: CgroupDriver): Cgroups => {
  const mounts = cgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
  const files = filesOf(mounts);
  return driver === 'systemd' ? systemdCgroups(files, { allCpus: allCpus() }) : cgroupfs(files);
};

/**
 * The version of the cgroups that are mounted at or below `root`; undefined if none are. Where there are both it is 1.
 *
 * Source: pkg/kubelet/kubelet_linux.go and opencontainers/cgroups IsCgroup2UnifiedMode.
 */
export const cgroupVersion = (root = '/sys/fs/cgroup'): 1 | 2 | undefined => {
  if (isThere(join(root, 'cgroup.controllers'))) return 2;
  return namesIfThere(root).length > 0 ? 1 : undefined;
};

export const isCgroupV1 = (): boolean => cgroupVersion() !== 2;

/**
 * The resources of the machine that cgroups can limit: `cpu`, `memory`, `pid`, and `hugepages-<size>`.
 *
 * Source: pkg/kubelet/cadvisor/util.go CapacityFromMachineInfo, pkg/kubelet/stats/pidlimit/pidlimit_linux.go
 */
export const cgroupCapacity = (): ResourceAmounts => {
  const tasks = ['pid_max', 'threads-max'].flatMap((name) => numberIn(`/proc/sys/kernel/${name}`) ?? []);
  const pages = hugePages().map(
    ({ pageBytes, count }) => [hugePagesName(pageBytes), quantity(String(count * pageBytes))] as const,
  );
  return new Map([
    ['cpu', quantity(String(processorCount()))],
    ['memory', quantity(String(totalmem()))],
    ...(tasks.length > 0 ? [['pid', quantity(String(Math.min(...tasks)))] as const] : []),
    ...pages,
  ]);
};

const filesOf = (mounts: CgroupMounts) => {
  const sizes = hugePages().map(({ pageBytes }) => pageBytes);
  const [unified] = mounts.hierarchies;
  return mounts.version === 2 && unified ? cgroupV2(unified, sizes) : cgroupV1(mounts, sizes);
};

const numberIn = (path: string): number | undefined => {
  const text = readIfThere(path);
  const value = Number(text?.trim());
  return text !== undefined && Number.isSafeInteger(value) ? value : undefined;
};

/** The CPUs that are online, in the notation of the kernel. */
const allCpus = (): string => readFileSync('/sys/devices/system/cpu/online', 'utf8').trim();
