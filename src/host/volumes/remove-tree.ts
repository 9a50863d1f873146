import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { entriesIn } from './directory-entries.js';
import type { FileCalls, Path } from './file-calls.js';
import { hasCode, namingPath, unless } from './file-errors.js';

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** More rounds than this mean that a process writes into the directory meanwhile. */
const MOST_ROUNDS = 100;

/**
 * Removes a directory with everything in it, of any depth and with any names. It follows no link and enters no mount
 * point. A missing directory is fine.
 *
 * Each directory inside is renamed into the top directory before it is emptied: the kernel refuses to rename a mount
 * point, and paths stay short.
 *
 * Errors: the path is not a directory; a mount point inside; a process that goes on writing.
 */
export const removeTree = async (calls: FileCalls, path: string): Promise<void> => {
  const top = await openTop(calls, path);
  if (top === undefined) return;
  try {
    for (let round = 0; ; round += 1) {
      if (round === MOST_ROUNDS) throw new Error(`cannot remove ${path}: a process writes into it`);
      await namingPath(emptyOnce(calls, top, path), pathOf(top), path);
      if (await removeEmpty(calls, path)) return;
    }
  } finally {
    await top.close();
  }
};

const openTop = async (calls: FileCalls, path: string): Promise<FileHandle | undefined> => {
  try {
    return await calls.open(path, DIRECTORY);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'ELOOP', 'ENOTDIR')) throw new Error(`${path} is not a directory, expected one`);
    throw error;
  }
};

const removeEmpty = async (calls: FileCalls, path: string): Promise<boolean> => {
  try {
    await calls.rmdir(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true;
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return false;
    if (hasCode(error, 'EBUSY')) throw mountError(path);
    throw error;
  }
};

const emptyOnce = async (calls: FileCalls, top: FileHandle, path: string): Promise<void> => {
  let count = 0;
  const pending: string[] = [];
  const moveToTop = async (from: Path): Promise<void> => {
    for (;;) {
      const to = `${pathOf(top)}/..removed.${count}`;
      count += 1;
      try {
        await calls.rename(from, to);
        pending.push(to);
        return;
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return;
        if (hasCode(error, 'EBUSY', 'EXDEV')) throw mountError(from.toString().replace(pathOf(top), path));
        // The name is taken, by an earlier call or by the owner of the files.
        if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) throw error;
      }
    }
  };
  await emptyFlat(calls, pathOf(top), moveToTop);
  for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
    // A process has put a file in its place, which the next round removes; or it is an empty one that an earlier call has left, and whose
    // name another directory got before it was moved on.
    const directory = await unless(calls.open(each, DIRECTORY), 'ELOOP', 'ENOTDIR', 'ENOENT');
    if (directory === undefined) continue;
    try {
      await namingPath(emptyFlat(calls, pathOf(directory), moveToTop), pathOf(directory), each);
    } finally {
      await directory.close();
    }
    await unless(calls.rmdir(each), 'ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST');
  }
};

/** Removes the files of a directory and moves its directories away. */
const emptyFlat = async (
  calls: FileCalls,
  directory: string,
  moveAway: (path: Path) => Promise<void>,
): Promise<void> => {
  // All entries are read first, since the directories may be moved into this very directory.
  for (const { path, isDirectory } of await entriesIn(calls, directory)) {
    if (isDirectory) await moveAway(path);
    else await removeFile(calls, path);
  }
};

/** A directory that has taken the place of the file is left to the next round. */
const removeFile = async (calls: FileCalls, path: Path): Promise<void> => {
  try {
    await unless(calls.unlink(path), 'ENOENT', 'EISDIR');
  } catch (error) {
    if (hasCode(error, 'EBUSY')) throw mountError(path.toString());
    throw error;
  }
};

const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

const mountError = (path: string): Error => new Error(`${path} is a mount point, expected a plain file or directory`);
