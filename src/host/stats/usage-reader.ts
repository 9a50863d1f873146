import { readFileSync } from 'node:fs';
import { cgroupMounts, type CgroupMounts } from '../../model/cgroups/cgroup-mounts.js';
import type { UsageReader } from '../../streams/ports/usage-reader.js';
import { deviceOf, directoryUsage, fileSystemUsage } from './directory-usage.js';
import { fileSystems } from './file-systems.js';
import { machineUsage } from './machine-usage.js';
import { readCgroups, type ReadCgroupsOptions } from './read-cgroups.js';

/** The `UsageReader` port for this machine. On a machine without cgroups no cgroup is found. */
export const usageReader = ({
  now,
  steadyNow,
}: Required<Pick<ReadCgroupsOptions, 'now' | 'steadyNow'>>): UsageReader => ({
  cgroups: readCgroups({ mounts: mountsOfMachine(), proc: '/proc', now, steadyNow }),
  machine: machineUsage({ proc: '/proc', sys: '/sys', now }),
  fileSystems: fileSystems({ proc: '/proc', now }),
  fileSystem: fileSystemUsage,
  device: deviceOf,
  directory: directoryUsage(now),
});

const mountsOfMachine = (): CgroupMounts => {
  try {
    return cgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return { version: 2, hierarchies: [] };
  }
};
