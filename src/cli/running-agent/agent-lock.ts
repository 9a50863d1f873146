import { join } from 'node:path';
import { Observable } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { makeDurableDirectoriesSync } from '../../processes/make-directories.js';
import { DirectoryInUse, type DirectoryLock, lockFile, whenLost } from '../../runtime/embedded/state/directory-lock.js';

export interface AgentLock extends DirectoryLock {
  /** Errors: once the root directory was removed or replaced. Emits nothing, never completes. */
  readonly lost$: Observable<never>;
}

/**
 * Makes this process the only agent on the directory, until it releases the lock or ends for any reason.
 *
 * Errors: `another agent (pid N) already uses <directory>`; it cannot be locked.
 */
export const lockRootDir = (rootDir: string): AgentLock => {
  try {
    makeDurableDirectoriesSync(rootDir);
  } catch (error) {
    throw new Error(`${errorText(error)}; --root-dir names another folder`, { cause: error });
  }
  const path = join(rootDir, 'agent.lock');
  const lock = locked(path, rootDir);
  const lost$ = new Observable<never>((subscriber) =>
    whenLost(lock, path, () => {
      const why = `${path} was removed or replaced: another agent may use ${rootDir}, so this one ends`;
      subscriber.error(new Error(why));
    }),
  );
  return { ...lock, lost$ };
};

const locked = (path: string, rootDir: string): DirectoryLock => {
  try {
    return lockFile(path);
  } catch (error) {
    if (!(error instanceof DirectoryInUse)) throw error;
    throw new Error(`another agent (pid ${error.pid}) already uses ${rootDir}`, { cause: error });
  }
};
