import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * Resolves when new names, renames and removals in the directory are on the disk: before, a loss of power can undo them.
 *
 * Errors: those of the disk. A file system that cannot sync a directory counts as one that has.
 */
export const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync().catch(unlessUnsupported);
  } finally {
    await directory.close();
  }
};

/** Does the same at once. */
export const syncDirectorySync = (path: string): void => {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } catch (error) {
    unlessUnsupported(error);
  } finally {
    closeSync(directory);
  }
};

const unlessUnsupported = (error: unknown): void => {
  if (!['EINVAL', 'ENOTSUP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
};
