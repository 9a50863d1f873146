/** The place of a cgroup in the tree, part by part from the root; `[]` is the root. A part has no `/` and no `_`. */
export type CgroupName = readonly string[];

/**
 * The creator of cgroups: the agent in the file system, or systemd, which uses slices. The runtime uses the same
 * driver.
 */
export type CgroupDriver = 'cgroupfs' | 'systemd';

const ROOT_CGROUP: CgroupName = [];

/**
 * Returns the name one or more levels below `parent`.
 *
 * Errors: throws on a part that would be ambiguous under the systemd driver, where `-` becomes `_`.
 * Source: pkg/kubelet/cm/cgroup_manager_linux.go NewCgroupName.
 */
export const childCgroup = (parent: CgroupName, ...parts: readonly string[]): CgroupName => {
  const odd = parts.find((part) => part === '' || /[/_]/.test(part) || part === '.' || part === '..');
  if (odd !== undefined) {
    throw new Error(
      `${JSON.stringify(odd)} cannot be part of the name of a cgroup: expected a name without "/" and "_"`,
    );
  }
  return [...parent, ...parts];
};

/** Returns the path below the mount point in the layout of the driver; always begins with `/`. */
export const cgroupPath = (driver: CgroupDriver, name: CgroupName): string =>
  driver === 'systemd' ? systemdPath(name) : `/${name.join('/')}`;

/** Returns the name of a path. Source: ParseCgroupfsToCgroupName, ParseSystemdToCgroupName. */
export const parseCgroupPath = (driver: CgroupDriver, path: string): CgroupName => {
  const parts = path.split('/').filter((part) => part !== '');
  if (driver === 'cgroupfs') return parts;
  // The last slice alone names all levels.
  const slice = (parts.at(-1) ?? '').replace(/\.slice$/, '');
  return slice === '' || slice === '-' ? ROOT_CGROUP : slice.split('-').map((part) => part.replaceAll('_', '-'));
};

/** Returns the systemd unit of a cgroup; the root is `-.slice`. */
export const systemdSlice = (name: CgroupName): string =>
  name.length === 0 ? '-.slice' : `${name.map((part) => part.replaceAll('-', '_')).join('-')}.slice`;

/** Every slice is in the directory of its parent. */
const systemdPath = (name: CgroupName): string =>
  `/${name.map((_, index) => systemdSlice(name.slice(0, index + 1))).join('/')}`;
