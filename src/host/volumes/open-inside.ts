import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import type { FileCalls } from './file-calls.js';
import { hasCode } from './file-errors.js';

/** Opens a path without touching the file: a pipe does not block, a device does nothing. Node has no name for it. */
const O_PATH = 0o10000000;
export const ENTRY = O_PATH | constants.O_NOFOLLOW;
export const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens a resolved path below `base` name by name, without following links: a container that changes links meanwhile makes
 * the call fail, at the worst.
 *
 * Errors: the path is not inside of `base`, or changes meanwhile; Node's own.
 * Source: pkg/volume/util/subpath/subpath_linux.go doSafeOpen
 */
export const openInside = async (calls: FileCalls, base: string, full: string, flags: number): Promise<FileHandle> => {
  requireInside(base, full);
  const names = relative(base, full).split(sep).filter(Boolean);
  let opened = await calls.open(base, names.length === 0 ? flags : DIRECTORY);
  for (const [index, name] of names.entries()) {
    const isLast = index === names.length - 1;
    const above = opened;
    try {
      opened = await calls.open(`${pathOf(above)}/${name}`, isLast ? flags : ENTRY | constants.O_DIRECTORY);
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw changedError(full, name);
      throw error;
    } finally {
      await above.close();
    }
  }
  if (!(await opened.stat()).isSymbolicLink()) return opened;
  await opened.close();
  throw changedError(full, names.at(-1) ?? '');
};

/** Errors: the path, as it is written, leads out of the volume. */
export const requireRelative = (volumeDirectory: string, path: string): void => {
  if (!path.startsWith('/') && !path.split('/').includes('..')) return;
  throw new Error(
    `the path ${JSON.stringify(path)} leads out of ${volumeDirectory}, expected a path inside of the volume`,
  );
};

/** Errors: the resolved path is outside of the resolved directory `base`. */
export const requireInside = (base: string, full: string): void => {
  if (full === base || full.startsWith(base.endsWith('/') ? base : `${base}/`)) return;
  throw new Error(`a path of the volume ${base} leads to ${full}, expected a path inside of the volume`);
};

export const changedError = (path: string, name: string): Error =>
  new Error(`${path} changes while it is opened: expected ${JSON.stringify(name)} not to be a link, and to stay`);

export const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;
