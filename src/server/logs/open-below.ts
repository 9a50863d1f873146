import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { join, posix } from 'node:path';

export interface OpenBelow {
  /** The caller closes it. */
  readonly handle: FileHandle;
  /** The path of the open file, without links. */
  readonly target: string;
}

/**
 * Opens the file or folder at a path below a directory. Returns undefined for one that lies elsewhere, since a link leads out.
 *
 * Errors: those of files.
 */
export const openBelow = async (directory: string, path: string): Promise<OpenBelow | undefined> => {
  // From a root, `..` does not lead out of it.
  const asked = posix.normalize(`/${path}`).replace(/\/$/, '');
  // Without O_NONBLOCK the opening of a pipe waits for a writer.
  const handle = await open(join(directory, asked), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    // The path of the open file: a link that changes meanwhile has no effect.
    const target = await readlink(`/proc/self/fd/${handle.fd}`);
    const root = await realpath(directory);
    if (target === root || target.startsWith(`${root}/`)) return { handle, target };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
};
