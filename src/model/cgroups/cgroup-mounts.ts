/** One mounted tree of cgroups. */
export interface CgroupHierarchy {
  readonly mountPoint: string;
  /**
   * The controllers of cgroup v1, with `name=systemd` and the like for trees without one. Under cgroup v2 the kernel
   * lists them in a file.
   */
  readonly controllers: readonly string[];
  readonly version: 1 | 2;
}

export interface CgroupMounts {
  /** 2 if one tree has all controllers; 1 also if such a tree without controllers is beside others. */
  readonly version: 1 | 2;
  /** One per tree; version 2 has only one. */
  readonly hierarchies: readonly CgroupHierarchy[];
}

interface Mount extends CgroupHierarchy {
  /** The visible part of the tree below the mount point; begins with `/..` if it is above the own namespace. */
  readonly root: string;
}

const CONTROLLERS: ReadonlySet<string> = new Set([
  ...['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids', 'hugetlb'],
  ...['perf_event', 'net_cls', 'net_prio', 'rdma', 'misc'],
]);

/**
 * Returns the trees of cgroups that a process sees, from its `/proc/self/mountinfo`. If a tree has several
 * mounts, the one of the whole tree is used, then the one with the shortest path. Paths of cgroups are relative to it, not to the
 * agent's own cgroup.
 *
 * Errors: throws if none is mounted.
 * Source: pkg/kubelet/cm/helpers_linux.go getCgroupSubsystemsV1.
 */
export const cgroupMounts = (mountInfo: string): CgroupMounts => {
  const mounts = mountInfo
    .split('\n')
    .flatMap(parseMount)
    .filter(({ root }) => !root.startsWith('/..'))
    .toSorted((a, b) => preference(a) - preference(b) || a.mountPoint.length - b.mountPoint.length);
  const trees = mounts.filter((mount, index) => mounts.findIndex((other) => isSameTree(other, mount)) === index);
  const hierarchies = trees.map(({ root: _, ...hierarchy }) => hierarchy);
  if (hierarchies.some(({ controllers }) => controllers.some((name) => CONTROLLERS.has(name)))) {
    return { version: 1, hierarchies };
  }
  const unified = hierarchies.filter(({ version }) => version === 2);
  if (unified.length === 0) throw new Error('no cgroup file system is mounted: expected one below /sys/fs/cgroup');
  return { version: 2, hierarchies: unified };
};

const preference = ({ root }: Mount): number => (root === '/' ? 0 : 1);

const isSameTree = (one: Mount, other: Mount): boolean =>
  one.version === other.version && one.controllers.join() === other.controllers.join();

const parseMount = (line: string): readonly Mount[] => {
  const [fields = '', source = ''] = line.split(' - ');
  const [, , , root = '', mountPoint = ''] = fields.split(' ');
  const [type, , options = ''] = source.split(' ');
  if (type === 'cgroup2') return [{ mountPoint: plain(mountPoint), root: plain(root), controllers: [], version: 2 }];
  if (type !== 'cgroup') return [];
  const controllers = options.split(',').filter((option) => CONTROLLERS.has(option) || option.startsWith('name='));
  if (controllers.length === 0) return [];
  return [{ mountPoint: plain(mountPoint), root: plain(root), controllers, version: 1 }];
};

/** The kernel escapes blanks and the like as `\040`. */
const plain = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
