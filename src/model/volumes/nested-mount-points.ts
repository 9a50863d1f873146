import { type Container, containersOf, type Pod } from '../pod/pod.js';
import { allNamed } from '../values/indexed-lists.js';

/**
 * Returns the directories inside of a volume on which containers mount other volumes, relative to the volume. A
 * runtime cannot make them, since it mounts the volume read-only.
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
