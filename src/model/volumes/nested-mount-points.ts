import { containersOf, type Pod } from '../pod/pod.js';

/**
 * Returns the directories inside of a volume on which containers mount other volumes, relative to the volume. A
 * runtime cannot make them, since it mounts the volume read-only.
 *
 * Errors: a mount path of the volume leads out of the root directory of the container.
 * Source: pkg/volume/util/nested_volumes.go
 */
export const nestedMountPoints = (pod: Pod, volume: string): readonly string[] => {
  const nested = containersOf(pod).flatMap(({ container: { volumeMounts = [] } }) => {
    const all = volumeMounts.map(({ mountPath }) => clean(mountPath)).sort();
    return volumeMounts
      .filter(({ name }) => name === volume)
      .flatMap(({ mountPath }) => outermostBelow(clean(mountPath), all));
  });
  return [...new Set(nested)];
};

const outermostBelow = (mountPath: string, sorted: readonly string[]): readonly string[] => {
  if (mountPath === '..' || mountPath.startsWith('../')) throw new Error(`invalid container mount point ${mountPath}`);
  const prefix = mountPath.endsWith('/') ? mountPath : `${mountPath}/`;
  const found: string[] = [];
  for (const path of sorted) {
    if (!path.startsWith(prefix) || path === prefix) continue;
    if (found.some((above) => `${path}/`.startsWith(`${prefix}${above}/`))) continue;
    found.push(path.slice(prefix.length));
  }
  return found;
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
