import { basename, dirname, join } from 'node:path';
import { mountPointsIn } from '../files/mount-points.js';
import type { FileCalls } from './file-calls.js';
import { ifThere } from './file-errors.js';

/** More mounts on one path than this are not the agent's. */
const MOST_MOUNTS = 32;

/**
 * Returns the mount points at a path and below, each as often as something is mounted on it. The kernel lists them by
 * their real paths, with which they are returned.
 */
export const mountsFrom = async (
  calls: FileCalls,
  path: string,
): Promise<{ readonly real: string; readonly at: readonly string[]; readonly below: readonly string[] }> => {
  const parent = await ifThere(calls.realPath(dirname(path)));
  if (parent === undefined) return { real: path, at: [], below: [] };
  const real = join(parent, basename(path));
  const points = mountPointsIn((await calls.read('/proc/self/mountinfo')).toString());
  return {
    real,
    at: points.filter((point) => point === real),
    below: points.filter((point) => point.startsWith(`${real}/`)),
  };
};

/**
 * Unmounts everything from a path and below it, for a second mount of a file or directory. The mounts below it have come from the
 * machine's own mount; that one stays, since it receives nothing from here any more.
 *
 * Errors: mounts below a path that is none itself, which belong to another owner; a mount that is in use.
 */
export const unmountTree = async (calls: FileCalls, path: string): Promise<void> => {
  const { real, at, below } = await mountsFrom(calls, path);
  if (at.length > 0 && below.length > 0) {
    await calls.separate(real);
    for (const point of below.toReversed()) await calls.unmount(point);
  }
  await unmountAll(calls, path);
};

/**
 * Unmounts everything from a path.
 *
 * Errors: a mount below the path, which belongs to another owner; a mount that is in use.
 */
export const unmountAll = async (calls: FileCalls, path: string): Promise<void> => {
  for (let count = 0; ; count += 1) {
    const { real, at, below } = await mountsFrom(calls, path);
    if (below[0] !== undefined) throw new Error(`${below[0]} is a mount point, expected no mounts below ${path}`);
    if (at.length === 0) return;
    if (count === MOST_MOUNTS) throw new Error(`${path} is mounted again after each of ${MOST_MOUNTS} unmounts`);
    await calls.unmount(real);
  }
};
