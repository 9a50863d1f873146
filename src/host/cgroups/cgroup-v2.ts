import { dirname, join } from 'node:path';
import { NO_LIMIT } from '../../model/cgroups/memory-qos.js';
import type { CgroupHierarchy } from '../../model/cgroups/cgroup-mounts.js';
import { type CgroupFeatures, v2Files } from './cgroup-files.js';
import type { CgroupFiles } from './cgroupfs.js';
import { isThere, levelsBetween, makeDirectory, readOrEmpty, type Setting, writeSettings } from './cgroup-tree.js';

/**
 * A cgroup counts as missing if it lacks one of these controllers and the machine has it. Source:
 * cgroup_v2_manager_linux.go Validate.
 */
const NEEDED = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids'];

/** Cgroups in one tree with all controllers. */
export const cgroupV2 = ({ mountPoint }: CgroupHierarchy, hugePageSizes: readonly bigint[]): CgroupFiles => {
  const controllersIn = (directory: string): readonly string[] =>
    readOrEmpty(join(directory, 'cgroup.controllers'))
      .split(' ')
      .filter((name) => name !== '');

  return {
    version: 2,
    hugePageSizes,
    directories: (path) => [join(mountPoint, path)],
    missing: (path) => {
      const directory = join(mountPoint, path);
      if (!isThere(directory)) return [directory];
      const [wanted, has] = [controllersIn(mountPoint), controllersIn(directory)];
      return wanted
        .filter((name) => NEEDED.includes(name) && !has.includes(name))
        .map((name) => `${directory} (controller ${name})`);
    },
    make: async (path) => {
      for (const level of levelsBetween(mountPoint, join(mountPoint, path))) {
        const above = dirname(level);
        await delegate(above, controllersIn(above));
        await makeDirectory(level);
      }
    },
    read: (path) => {
      const directory = join(mountPoint, path);
      if (!isThere(directory)) return undefined;
      const contentOf = (file: string): string => readOrEmpty(join(directory, file));
      const [memory, [quota = 'max']] = [contentOf('memory.max'), contentOf('cpu.max').split(' ')];
      const high = contentOf('memory.high');
      return {
        memory: memory === '' || memory === 'max' ? undefined : BigInt(memory),
        memoryMin: protection(contentOf('memory.min')),
        memoryLow: protection(contentOf('memory.low')),
        memoryHigh: high === '' || high === 'max' ? NO_LIMIT : BigInt(high),
        cpuQuota: quota === '' || quota === 'max' ? -1 : Number(quota),
        cpuWeight: Number(contentOf('cpu.weight') || 1),
        memoryUsage: BigInt(contentOf('memory.current') || 0),
      };
    },
    write: async (path, resources) => {
      const directory = join(mountPoint, path);
      const features: CgroupFeatures = {
        hasHugetlb: controllersIn(directory).includes('hugetlb'),
        hugePageSizes,
      };
      const settings = v2Files(resources, features).map(({ file, value }): Setting => ({ directory, file, value }));
      return writeSettings(settings);
    },
  };
};

/** Without a number everything is protected. */
const protection = (content: string): bigint => (content === 'max' ? ALL : BigInt(content || 0));
const ALL = 1n << 62n;

/**
 * Enables the controllers for the children of the cgroup, one by one, so that one that is not available does not
 * prevent the others. Errors: none; `missing` reports the controllers that the children lack.
 */
const delegate = async (directory: string, controllers: readonly string[]): Promise<void> => {
  const file = 'cgroup.subtree_control';
  const enabled = readOrEmpty(join(directory, file)).split(' ');
  const added = controllers.filter((name) => !enabled.includes(name)).map((name) => `+${name}`);
  if (added.length === 0) return;
  const refused = await writeSettings([{ directory, file, value: added.join(' ') }]);
  if (refused.length > 0) await writeSettings(added.map((value) => ({ directory, file, value })));
};
