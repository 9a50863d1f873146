import { constants } from 'node:fs';
import { chmod, open, readFile, realpath, writeFile } from 'node:fs/promises';
import { defer, from, ignoreElements } from 'rxjs';
import type { PodFiles } from '../../streams/ports/pod-files.js';
import { mountPointsIn } from './mount-points.js';

/** The `PodFiles` port for the file system of this machine. */
export const podFiles: PodFiles = {
  write: (path, content, mode) => defer(() => from(write(path, content, mode))).pipe(ignoreElements()),
  read: (path) => defer(() => from(readFile(path, 'utf8'))),
  readTail: (path, maxBytes) => defer(() => from(readTail(path, maxBytes))),
  mountsBelow: (directory) => defer(() => from(mountsBelow(directory))),
};

const write = async (path: string, content: string, mode: number): Promise<void> => {
  const before = await readFile(path, 'utf8').catch(undefinedIfMissing);
  if (before !== content) await writeFile(path, content, { mode });
  // The umask of the process may have removed bits from the mode, and a container with the file mounted may have
  // changed it.
  await chmod(path, mode);
};

const readTail = async (path: string, maxBytes: number): Promise<Uint8Array | undefined> => {
  // Without this flag, opening a pipe would block until a process writes into it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(undefinedIfMissing);
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    const buffer = new Uint8Array(Math.min(maxBytes, stats.size));
    let length = 0;
    while (length < buffer.length) {
      const position = stats.size - buffer.length + length;
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, position);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
};

const mountsBelow = async (directory: string): Promise<readonly string[]> => {
  // The kernel lists mounts by their real paths.
  const real = await realpath(directory).catch(undefinedIfMissing);
  if (real === undefined) return [];
  const prefix = real.endsWith('/') ? real : `${real}/`;
  return mountPointsIn(await readFile('/proc/self/mountinfo', 'utf8')).filter(
    (point) => point === real || point.startsWith(prefix),
  );
};

const undefinedIfMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
};
