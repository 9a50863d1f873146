import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SubPathSetup } from '../../model/volumes/volume-setup.js';
import type { FileCalls } from './file-calls.js';
import { hasCode, ifThere, unless } from './file-errors.js';
import { mountsFrom, unmountTree } from './mounted.js';
import { changedError, DIRECTORY, ENTRY, openInside, pathOf, requireInside, requireRelative } from './open-inside.js';

const PARENT_MODE = 0o750;
const FILE_MODE = 0o640;
const PERMISSIONS = 0o7777;
const ACCESS = 0o777;
/**
 * The access bits of a directory until it gets its mode. A process that is killed in between leaves a directory that
 * the next call recognizes.
 */
const UNFINISHED = 0;

/**
 * Mounts a file or directory of a volume at the target. Links inside of the volume are followed as long as they stay
 * inside. The path is resolved first and then opened name by name without following links, so a container that changes
 * links meanwhile makes the call fail, at the worst.
 *
 * Errors: the path leads out of the volume, or changes meanwhile.
 * Source: pkg/volume/util/subpath/subpath_linux.go doBindSubPath
 */
export const bindSubPath = async (
  calls: FileCalls,
  { volumeDirectory, subPath, target, givesBack }: SubPathSetup,
): Promise<void> => {
  requireRelative(volumeDirectory, subPath);
  const base = await calls.realPath(volumeDirectory);
  await makeMissing(calls, base, subPath);
  const full = await calls.realPath(join(base, subPath));
  const source = await openInside(calls, base, full, ENTRY);
  try {
    await bindAt(calls, source, target, givesBack);
  } finally {
    await source.close();
  }
};

/**
 * Makes the missing directories of a sub-path with the mode of the volume. Source: subpath_linux.go doSafeMakeDir
 */
const makeMissing = async (calls: FileCalls, base: string, subPath: string): Promise<void> => {
  const names = subPath.split('/').filter((name) => name !== '' && name !== '.');
  let existing = base;
  for (;;) {
    const name = names[0];
    if (name === undefined) break;
    const next = await unless(calls.realPath(join(existing, name)), 'ENOENT');
    if (next === undefined) break;
    requireInside(base, next);
    existing = next;
    names.shift();
  }
  const stats = await calls.lstat(existing);
  const isUnfinished = existing !== base && stats.isDirectory() && isUnfinishedMode(stats.mode);
  if (names.length === 0 && !isUnfinished) return;
  const mode = (await calls.lstat(base)).mode & PERMISSIONS;
  let directory = await openInside(calls, base, existing, DIRECTORY);
  try {
    if (isUnfinished) await directory.chmod(mode);
    for (const name of names) {
      const path = `${pathOf(directory)}/${name}`;
      await unless(calls.mkdir(path, UNFINISHED), 'EEXIST');
      const above = directory;
      directory = await openNew(calls, path, join(base, subPath), name);
      await above.close();
      if (!isUnfinishedMode((await directory.stat()).mode)) continue;
      await directory.chmod(mode);
    }
  } finally {
    await directory.close();
  }
};

/** A new directory may have the setgid bit of the directory above. */
const isUnfinishedMode = (mode: number): boolean => (mode & ACCESS) === UNFINISHED;

const openNew = async (calls: FileCalls, path: string, full: string, name: string): Promise<FileHandle> => {
  try {
    return await calls.open(path, DIRECTORY);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw changedError(full, name);
    throw error;
  }
};

/** Source: subpath_linux.go prepareSubpathTarget */
const bindAt = async (
  calls: FileCalls,
  source: FileHandle,
  target: string,
  givesBack: boolean | undefined,
): Promise<void> => {
  const { at } = await mountsFrom(calls, target);
  if (at.length > 0) {
    if (await isSame(calls, source, target)) return;
    await unmountTree(calls, target);
  }
  await calls.mkdirs(dirname(target), PARENT_MODE);
  await makeTarget(calls, target, (await source.stat()).isDirectory());
  await calls.bind(`/proc/${process.pid}/fd/${source.fd}`, target, givesBack);
  if (await isSame(calls, source, target)) return;
  await unmountTree(calls, target);
  throw new Error(`${target} shows another file than the sub-path, expected the mount of the opened file`);
};

/** A file serves as mount point for everything that is not a directory. */
const makeTarget = async (calls: FileCalls, target: string, isDirectory: boolean): Promise<void> => {
  const before = await ifThere(calls.lstat(target));
  if (before && before.isDirectory() === isDirectory) return;
  if (before) await (before.isDirectory() ? calls.rmdir(target) : calls.unlink(target));
  await (isDirectory ? calls.mkdir(target, PARENT_MODE) : calls.create(target, new Uint8Array(), FILE_MODE));
};

const isSame = async (calls: FileCalls, source: FileHandle, target: string): Promise<boolean> => {
  const [one, other] = [await source.stat({ bigint: true }), await calls.identity(target)];
  return one.dev === other.dev && one.ino === other.ino;
};

/**
 * Unmounts the sub-paths of a volume, and removes their directories and those above if they are empty.
 *
 * Source: subpath_linux.go doCleanSubPaths
 */
export const unbindSubPaths = async (calls: FileCalls, directory: string): Promise<void> => {
  for (const container of (await ifThere(calls.names(directory))) ?? []) {
    const ofContainer = join(directory, container);
    for (const index of (await ifThere(calls.names(ofContainer))) ?? []) {
      const target = join(ofContainer, index);
      await unmountTree(calls, target);
      const left = await ifThere(calls.lstat(target));
      if (left) await (left.isDirectory() ? calls.rmdir(target) : calls.unlink(target));
    }
    const left = await ifThere(calls.lstat(ofContainer));
    if (left) await (left.isDirectory() ? calls.rmdir(ofContainer) : calls.unlink(ofContainer));
  }
  await unless(calls.rmdir(directory), 'ENOENT');
  await unless(calls.rmdir(dirname(directory)), 'ENOENT', 'ENOTEMPTY', 'EEXIST');
};
