import type { FileHandle } from 'node:fs/promises';
import type { MountPointSetup } from '../../model/volumes/volume-setup.js';
import type { FileCalls } from './file-calls.js';
import { ifThere, namingPath, unless } from './file-errors.js';
import { DIRECTORY, pathOf } from './open-inside.js';

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;

/**
 * Makes the missing mount point of a container inside of a directory, name by name: a container that changes links meanwhile gets
 * nothing made outside.
 *
 * Source: pkg/volume/util/nested_volumes.go, which makes directories only
 */
export const makeMountPoint = async (calls: FileCalls, { directory, path, source }: MountPointSetup): Promise<void> => {
  // A runtime makes a missing source as a directory.
  const found = source === undefined ? undefined : await ifThere(calls.stat(source));
  const isFile = found?.isDirectory() === false;
  const names = path.split('/');
  const last = isFile ? names.pop() : undefined;
  let reached = directory;
  let at = await unless(calls.open(directory, DIRECTORY), 'ENOTDIR', 'ELOOP');
  try {
    for (const name of names) {
      if (at === undefined) return;
      const above = at;
      const made = makeAndOpen(calls, `${pathOf(above)}/${name}`);
      at = await namingPath(made, pathOf(above), reached).finally(() => above.close());
      reached = `${reached}/${name}`;
    }
    if (at === undefined || last === undefined) return;
    const file = calls.create(`${pathOf(at)}/${last}`, new Uint8Array(), FILE_MODE);
    await namingPath(unless(file, 'EEXIST'), pathOf(at), reached);
  } finally {
    await at?.close();
  }
};

/** Resolves with undefined where something else than a directory is. */
const makeAndOpen = async (calls: FileCalls, path: string): Promise<FileHandle | undefined> => {
  await unless(calls.mkdir(path, DIRECTORY_MODE), 'EEXIST');
  return await unless(calls.open(path, DIRECTORY), 'ENOTDIR', 'ELOOP', 'ENOENT');
};
