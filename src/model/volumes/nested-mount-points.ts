import type { DeepPartial, Mount } from '../../generated/runtime/v1/api.js';
import { type Container, containersOf, type Pod } from '../pod/pod.js';
import { allNamed, firstNamed } from '../values/indexed-lists.js';
import type { ContainerMount } from './container-mounts.js';
import { volumePluginOf } from './volume-plugin.js';
import type { MountPointSetup } from './volume-setup.js';

/**
 * Returns the mount points of a container that the agent has to make: those inside of a volume whose directory is the agent's own and
 * which the container gets read-only, so that no runtime can make them. The innermost volume above a mount has its mount point.
 * `others` are mounts of files that are no volumes.
 */
export const ownMountPoints = (
  { spec: { volumes = [] } }: Pod,
  mounts: readonly ContainerMount[],
  others: readonly DeepPartial<Mount>[],
): readonly MountPointSetup[] => {
  const outer = mounts.map(({ volume, mount: { containerPath = '', hostPath = '', readonly = false } }) => {
    const found = firstNamed(volumes, volume);
    const isOwn = found !== undefined && volumePluginOf(found)?.hasDirectory === true;
    return { path: clean(containerPath), directory: hostPath, isMade: readonly && isOwn };
  });
  return [...mounts.map(({ mount }) => mount), ...others].flatMap(({ containerPath = '', hostPath = '' }) => {
    const path = clean(containerPath);
    const above = outer.filter((one) => path.startsWith(one.path.endsWith('/') ? one.path : `${one.path}/`));
    const nearest = above.toSorted((one, other) => one.path.length - other.path.length).at(-1);
    if (nearest?.isMade !== true || nearest.path === path) return [];
    const inside = path.slice(nearest.path.length).replace(/^\//, '');
    return [{ directory: nearest.directory, path: inside, ...(hostPath !== '' && { source: hostPath }) }];
  });
};

/**
 * Returns the paths inside of a volume at which containers mount other volumes, relative to the volume. A runtime cannot
 * make them, since it mounts the volume read-only, and no file of the volume takes their place.
 *
 * Errors: a mount path of the volume leads out of the root directory of the container.
 * Source: pkg/volume/util/nested_volumes.go
 */
export const nestedMountPoints = (pod: Pod, volume: string): readonly string[] => {
  const nested = containersOf(pod).flatMap(({ container: { volumeMounts = [] } }) => {
    const own = allNamed(volumeMounts, volume);
    if (own.length === 0) return [];
    const all = sortedPaths(volumeMounts);
    return own.flatMap(({ mountPath }) => outermostBelow(clean(mountPath), all));
  });
  return [...new Set(nested)];
};

const outermostBelow = (mountPath: string, sorted: readonly string[]): readonly string[] => {
  if (mountPath === '..' || mountPath.startsWith('../')) throw new Error(`invalid container mount point ${mountPath}`);
  const prefix = mountPath.endsWith('/') ? mountPath : `${mountPath}/`;
  const found = new Set<string>();
  for (let at = firstFrom(sorted, prefix); sorted[at]?.startsWith(prefix); at += 1) {
    const inside = sorted[at]!.slice(prefix.length);
    if (inside !== '' && !isBelowOne(inside, found)) found.add(inside);
  }
  return [...found];
};

/** Whether one of the paths is the path or above it. */
const isBelowOne = (path: string, paths: ReadonlySet<string>): boolean => {
  if (paths.has(path)) return true;
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    if (paths.has(path.slice(0, end))) return true;
  }
  return false;
};

/** The index of the first text that is not before `text`. */
const firstFrom = (sorted: readonly string[], text: string): number => {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < text) low = middle + 1;
    else high = middle;
  }
  return low;
};

type Mounts = NonNullable<Container['volumeMounts']>;

/** Each volume of the pod needs the paths of all. */
const pathsOf = new WeakMap<Mounts, readonly string[]>();

const sortedPaths = (mounts: Mounts): readonly string[] => {
  const known = pathsOf.get(mounts);
  if (known) return known;
  const sorted = mounts.map(({ mountPath }) => clean(mountPath)).sort();
  pathsOf.set(mounts, sorted);
  return sorted;
};

/** Returns the shortest equal path, as Go's `filepath.Clean` does. */
const clean = (path: string): string => {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.length > 0 && names.at(-1) !== '..') names.pop();
    else if (!path.startsWith('/')) names.push('..');
  }
  return path.startsWith('/') ? `/${names.join('/')}` : names.join('/') || '.';
};
