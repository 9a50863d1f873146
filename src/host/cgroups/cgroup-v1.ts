import { dirname, join } from 'node:path';
import type { CgroupHierarchy, CgroupMounts } from '../../model/cgroups/cgroup-mounts.js';
import type { CgroupResources } from '../../model/cgroups/cgroup-resources.js';
import { type CgroupFeatures, v1Files } from './cgroup-files.js';
import type { CgroupFiles } from './cgroupfs.js';
import {
  directoriesOf,
  isThere,
  makeDirectory,
  readOrEmpty,
  type Setting,
  writeInto,
  writeSettings,
} from './cgroup-tree.js';

/**
 * A cgroup without a directory in one of these trees counts as missing. The other trees are optional. Source:
 * cgroup_v1_manager_linux.go Validate.
 */
const NEEDED = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'hugetlb', 'name=systemd'];

/** Cgroups with one tree per controller, and on some machines one tree without controllers. */
export const cgroupV1 = ({ hierarchies }: CgroupMounts, hugePageSizes: readonly bigint[]): CgroupFiles => {
  const treeOf = (controller: string): CgroupHierarchy | undefined =>
    hierarchies.find(({ controllers }) => controllers.includes(controller));
  const needed = hierarchies.filter(({ controllers }) => controllers.some((name) => NEEDED.includes(name)));
  const hasHugetlb = treeOf('hugetlb') !== undefined;
  const features: CgroupFeatures = { hasHugetlb, hugePageSizes };

  const write = async (path: string, resources: CgroupResources): Promise<readonly string[]> => {
    const problems: string[] = [];
    const settings = v1Files(resources, features).flatMap(({ controller, file, value }): readonly Setting[] => {
      const tree = treeOf(controller);
      if (tree) return [{ directory: join(tree.mountPoint, path), file, value }];
      problems.push(`${file}: ${value} was refused: the controller ${controller} is not mounted`);
      return [];
    });
    return [...problems, ...(await writeSettings(settings))];
  };

  return {
    version: 1,
    hugePageSizes: hasHugetlb ? hugePageSizes : [],
    directories: (path) => directoriesOf(hierarchies, path),
    missing: (path) => directoriesOf(needed, path).filter((directory) => !isThere(directory)),
    make: async (path) => {
      for (const hierarchy of hierarchies) {
        const directory = join(hierarchy.mountPoint, path);
        await makeDirectory(directory);
        if (!hierarchy.controllers.includes('cpuset')) continue;
        for (const file of ['cpuset.cpus', 'cpuset.mems']) await inherited(hierarchy.mountPoint, directory, file);
      }
    },
    read: (path) => {
      const [cpu, memory] = ['cpu', 'memory'].map((controller) => treeOf(controller)?.mountPoint);
      const fileIn = (mountPoint: string | undefined, file: string): string =>
        mountPoint === undefined ? '' : readOrEmpty(join(mountPoint, path, file));
      const shares = fileIn(cpu, 'cpu.shares');
      const limit = fileIn(memory, 'memory.limit_in_bytes');
      if (shares === '' && limit === '') return undefined;
      return {
        memory: limit === '' || BigInt(limit) >= NO_LIMIT ? undefined : BigInt(limit),
        cpuQuota: Number(fileIn(cpu, 'cpu.cfs_quota_us') || -1),
        cpuShares: Number(shares || 2),
        memoryUsage: BigInt(fileIn(memory, 'memory.usage_in_bytes') || 0),
      };
    },
    write,
  };
};

/** The kernel shows no limit as the largest multiple of a page. */
const NO_LIMIT = 2n ** 62n;

/**
 * The CPUs or memory nodes of a cgroup. A new cgroup has none, and no process can be put into it before it has some, so
 * it takes those of its parent. The ancestors of a cgroup with a value have values too, so the search ends there.
 */
const inherited = async (mountPoint: string, directory: string, file: string): Promise<string> => {
  const own = readOrEmpty(join(directory, file));
  if (own !== '' || directory.length <= mountPoint.length) return own;
  const above = await inherited(mountPoint, dirname(directory), file);
  if (above !== '') await writeInto(join(directory, file), above);
  return above;
};
