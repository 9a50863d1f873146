import { join } from 'node:path';
import { DirectoryInUse, type DirectoryLock, lockFile } from './directory-lock.js';

/** The file also contains the owner, a `LockOwner` in JSON. */
export const stateLockPath = (stateDirectory: string): string => join(stateDirectory, 'runtime.lock');

/**
 * Makes this process the only runtime on the state directory; see `lockFile`.
 *
 * Errors: `another runtime (process N) already uses <directory>`; it cannot be locked.
 */
export const lockState = (stateDirectory: string, build?: string): DirectoryLock => {
  try {
    return lockFile(stateLockPath(stateDirectory), undefined, build);
  } catch (error) {
    if (!(error instanceof DirectoryInUse)) throw error;
    throw new Error(`another runtime (process ${error.pid}) already uses ${stateDirectory}`, { cause: error });
  }
};
