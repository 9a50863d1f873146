import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CgroupFeatures, v1Files } from '../../model/cgroups/cgroup-files.js';
import type { CgroupHierarchy, CgroupMounts } from '../../model/cgroups/cgroup-mounts.js';
import type { CgroupResources } from '../../model/cgroups/cgroup-resources.js';
import type { CgroupFiles } from './cgroup-files-adapter.js';
import {
  directoriesOf,
  isThere,
  levelsBetween,
  makeDirectory,
  readOrEmpty,
  type Setting,
  writeSettings,
} from './cgroup-tree.js';

/** Without these a cgroup is not there; of all others it may have lost its place. Source: cgroup_v1_manager_linux.go Validate. */
const NEEDED = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'hugetlb', 'name=systemd'];

/** Cgroups in one tree per controller, and in one without controllers where the machine has that, too. */
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
    missing: async (path) => {
      const wanted = directoriesOf(needed, path);
      const there = await Promise.all(wanted.map(isThere));
      return wanted.filter((_, index) => !there[index]);
    },
    make: async (path) => {
      for (const hierarchy of hierarchies) {
        const directory = join(hierarchy.mountPoint, path);
        await makeDirectory(directory);
        if (hierarchy.controllers.includes('cpuset')) {
          for (const level of levelsBetween(hierarchy.mountPoint, directory)) await inheritCpuset(level);
        }
      }
    },
    write,
  };
};

/** A new cgroup has no CPUs and no memory nodes, and no process can be put into it until it has. */
const inheritCpuset = async (directory: string): Promise<void> => {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    if ((await readOrEmpty(join(directory, file))) !== '') continue;
    const above = await readOrEmpty(join(directory, '..', file));
    if (above !== '') await writeFile(join(directory, file), above, { flag: 'r+' });
  }
};
