import { randomInt } from 'node:crypto';
import { closeSync, fchmodSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDurableDirectories, makeDurableDirectoriesSync } from './make-directories.js';
import { syncDirectory, syncDirectorySync } from './sync-directory.js';

export interface ReplacedFile {
  /** Independent of the umask. */
  readonly mode: number;
  /** The mode of the missing directories above the file. */
  readonly directoryMode?: number;
}

/**
 * Replaces the file as a whole, at the end of a symbolic link if it is one, and makes missing directories. Once it resolves, no
 * loss of power undoes it; until then the old file is there. Several replacements of one file may run at once; the last rename counts.
 *
 * Errors: Node's own, which name the call. The old file stays, except for an error of the disk itself after the rename.
 */
export const replaceFile = async (
  path: string,
  content: string | Uint8Array,
  { mode, directoryMode }: ReplacedFile,
): Promise<void> => {
  await makeDurableDirectories(dirname(path), directoryMode);
  const target = await realpath(path).catch(ifMissing(path));
  const draft = draftOf(target);
  try {
    await writeSynced(await open(draft, 'wx', mode), content, mode);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncDirectory(dirname(target));
};

const writeSynced = async (file: FileHandle, content: string | Uint8Array, mode: number): Promise<void> => {
  try {
    await file.writeFile(content);
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Writes a file of its own, such as one that is to be renamed, and its content to the disk, but not its name. */
export const writeSyncedFile = async (path: string, content: string | Uint8Array, mode: number): Promise<void> =>
  writeSynced(await open(path, 'w', mode), content, mode);

/** Does the same as `replaceFile` at once. */
export const replaceFileSync = (
  path: string,
  content: string | Uint8Array,
  { mode, directoryMode }: ReplacedFile,
): void => {
  makeDurableDirectoriesSync(dirname(path), directoryMode);
  const target = realpathIfThere(path);
  const draft = draftOf(target);
  try {
    writeSyncedSync(draft, content, mode);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncDirectorySync(dirname(target));
};

const writeSyncedSync = (path: string, content: string | Uint8Array, mode: number): void => {
  const file = openSync(path, 'w', mode);
  try {
    writeFileSync(file, content);
    fchmodSync(file, mode);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};

/** Beside the file, since a rename does not lead to another disk. Readers of a folder know these names. */
const draftOf = (path: string): string => `${path}.${randomInt(2 ** 32)}`;

const realpathIfThere = (path: string): string => {
  try {
    return realpathSync(path);
  } catch (error) {
    return ifMissing(path)(error as NodeJS.ErrnoException);
  }
};

const ifMissing =
  (path: string) =>
  (error: NodeJS.ErrnoException): string => {
    if (error.code === 'ENOENT') return path;
    throw error;
  };
