import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { CgroupDriver } from '../../model/cgroups/cgroup-name.js';
import { type CgroupMounts, cgroupMounts } from '../../model/cgroups/cgroup-mounts.js';
import { hugePagesName } from '../../model/node/node-resources.js';
import type { ResourceAmounts } from '../../model/pod-resources.js';
import { quantity } from '../../model/quantity.js';
import type { Cgroups } from '../../streams/ports.js';
import { hugePages } from '../huge-pages.js';
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
  const pages = hugePages().map(
    ({ pageBytes, count }) => [hugePagesName(pageBytes), quantity(String(count * pageBytes))] as const,
  );
  return new Map([
    ['cpu', quantity(String(cpus().length || availableParallelism()))],
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
  try {
    const value = Number(readFileSync(path, 'utf8').trim());
    return Number.isSafeInteger(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** CPUs that are switched on, as the kernel lists them. */
const allCpus = (): string => readFileSync('/sys/devices/system/cpu/online', 'utf8').trim();
