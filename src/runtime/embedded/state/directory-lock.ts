import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  spawnSync,
  statSync,
  watch,
  writeSync,
} from '../machine/machine.js';
import { dirname } from 'node:path';
import { DEFAULT_PATH } from '../confinement/isolation.js';
import { isAlive, processId, type ProcessId } from '../confinement/process-tree.js';

export interface DirectoryLock {
  /** Releases the lock. The file stays: if it were removed, two processes could lock two files of one name. */
  readonly release: () => void;
  /** Whether the file was deleted or replaced: then another process may have the lock of the new file. */
  readonly isLost: () => boolean;
}

/** Another process has the lock. `pid` is its process ID, if the process has written it down. */
export class DirectoryInUse extends Error {
  constructor(
    directory: string,
    readonly pid: string,
  ) {
    super(`process ${pid} uses ${directory}`);
  }
}

/** The exit code of flock(1) without output: another process has the lock. */
const BUSY = 1;
const MAX_OWNER_BYTES = 256;
const LOCK_TIMEOUT_MS = 10_000;
const OFTEN_ENOUGH_MS = 2_000;

/**
 * Locks the file for this process alone, until it releases the lock or ends for any reason.
 *
 * Node has no call for a lock of the operating system, so flock(1) makes it, on a descriptor that it shares with this
 * process: the kernel keeps such a lock while any process has the descriptor open, and after the end of flock(1) this
 * process is the only one. Only this user can open the file, since a process that can open a file can lock it.
 *
 * `build` names the build of this process to those that read the file.
 *
 * Errors: DirectoryInUse; no flock(1); the file cannot be made or locked.
 */
export const lockFile = (path: string, flock = 'flock', build?: string): DirectoryLock => {
  for (;;) {
    const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      takeLock(descriptor, path, flock);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    // Another process may have deleted it between the two steps.
    if (!isLost(descriptor, path)) {
      writeOwner(descriptor, build);
      let isReleased = false;
      return {
        isLost: () => !isReleased && isLost(descriptor, path),
        release: () => {
          if (!isReleased) closeSync(descriptor);
          isReleased = true;
        },
      };
    }
    closeSync(descriptor);
  }
};

/**
 * Calls `onLost` once when the lock is lost; usually at once, within two seconds at most. Keeps the process alive until
 * the returned function is called.
 */
export const whenLost = (lock: DirectoryLock, path: string, onLost: () => void): (() => void) => {
  const look = (): void => {
    if (!lock.isLost()) return;
    stop();
    onLost();
  };
  const timer = setInterval(look, OFTEN_ENOUGH_MS);
  const watcher = watched(path, look);
  const stop = (): void => {
    clearInterval(timer);
    watcher?.close();
  };
  return stop;
};

const watched = (path: string, look: () => void): { readonly close: () => void } | undefined => {
  try {
    return watch(path, { persistent: false }, look).on('error', () => undefined);
  } catch {
    // No inotify watch is free, or the file is deleted already: the timer detects it.
    return undefined;
  }
};

const takeLock = (descriptor: number, path: string, flock: string): void => {
  const { error, status, signal, stderr } = spawnSync(flock, ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    env: { PATH: `${DEFAULT_PATH}:${process.env.PATH ?? ''}`, LC_ALL: 'C' },
    encoding: 'utf8',
    timeout: LOCK_TIMEOUT_MS,
  });
  if (status === 0) return;
  const said = stderr?.trim() ?? '';
  if (status === BUSY && said === '') throw new DirectoryInUse(dirname(path), ownerIn(descriptor));
  if (error && 'code' in error && error.code === 'ENOENT')
    throw new Error(`${dirname(path)} cannot be locked: flock(1) is missing, install util-linux`, { cause: error });
  const why = error?.message ?? (said || `flock(1) ended with ${signal ?? status}`);
  throw new Error(`${path} cannot be locked: ${why}`, { cause: error });
};

/** Returns false if the state is unknown: a machine without free descriptors says nothing about the file. */
const isLost = (descriptor: number, path: string): boolean => {
  try {
    const own = fstatSync(descriptor, { bigint: true });
    const there = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (there === undefined) return own.nlink === 0n;
    return there.ino !== own.ino || there.dev !== own.dev;
  } catch {
    return false;
  }
};

/** Nothing depends on it that may be lost: a full disk must not prevent the lock. */
const writeOwner = (descriptor: number, build: string | undefined): void => {
  try {
    ftruncateSync(descriptor, 0);
    writeSync(descriptor, JSON.stringify({ ...processId(process.pid), build }), 0);
  } catch {
    // Other processes read `unknown`.
  }
};

/** The process ID of the owner; unknown if the owner has not written it, or if an earlier owner has. */
const ownerIn = (descriptor: number): string => {
  try {
    const text = Buffer.alloc(MAX_OWNER_BYTES);
    return String(livingOwner(text.toString('utf8', 0, readSync(descriptor, text)))?.pid ?? 'unknown');
  } catch {
    return 'unknown';
  }
};

/** The process that has a lock. */
export interface LockOwner extends ProcessId {
  /** Undefined for an owner that named none, as all did once. */
  readonly build?: string;
}

/** The owner of a locked file; undefined if it is unknown, or if the owner has ended. */
export const ownerOf = (path: string): LockOwner | undefined => {
  try {
    return livingOwner(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

const livingOwner = (text: string): LockOwner | undefined => {
  const owner = JSON.parse(text) as LockOwner;
  return isAlive(owner) ? owner : undefined;
};
