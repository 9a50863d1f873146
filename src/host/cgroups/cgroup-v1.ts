import { dirname, join } from 'node:path';
import { type CgroupFeatures, v1Files } from '../../model/cgroups/cgroup-files.js';
import type { CgroupHierarchy, CgroupMounts } from '../../model/cgroups/cgroup-mounts.js';
import type { CgroupResources } from '../../model/cgroups/cgroup-resources.js';
import type { CgroupFiles } from './cgroup-files-adapter.js';
import {
  directoriesOf,
  isThere,
  makeDirectory,
  readOrEmpty,
  type Setting,
  writeInto,
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
    missing: (path) => directoriesOf(needed, path).filter((directory) => !isThere(directory)),
    make: async (path) => {
      for (const hierarchy of hierarchies) {
        const directory = join(hierarchy.mountPoint, path);
        await makeDirectory(directory);
        if (!hierarchy.controllers.includes('cpuset')) continue;
        for (const file of ['cpuset.cpus', 'cpuset.mems']) await inherited(hierarchy.mountPoint, directory, file);
      }
    },
    write,
  };
};

/**
 * What a cgroup has of CPUs or memory nodes, which it gets from above if it is new: a new one has none, and no process can be put
 * into it until it has. One that has some stands below others that do, so nobody looks further.
 */
const inherited = async (mountPoint: string, directory: string, file: string): Promise<string> => {
  const own = readOrEmpty(join(directory, file));
  if (own !== '' || directory.length <= mountPoint.length) return own;
  const above = await inherited(mountPoint, dirname(directory), file);
  if (above !== '') await writeInto(join(directory, file), above);
  return above;
};
