import { mkdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { syncDirectory, syncDirectorySync } from './sync-directory.js';

/**
 * Makes a directory and its missing ancestors. Resolves with the first directory that it made; undefined if all existed.
 *
 * Errors: the refusal of the kernel. Node by itself reports most refusals, such as `EROFS` of a read-only disk, as `ENOENT`.
 */
export const makeDirectories = async (path: string, mode = 0o777): Promise<string | undefined> => {
  try {
    return await mkdir(path, { recursive: true, mode });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  let first: string | undefined;
  for (const directory of withAncestors(path)) {
    const made = mkdir(directory, { mode }).then(() => true, unlessItExists);
    if (await made) first ??= directory;
  }
  return first;
};

/** Does the same at once. */
export const makeDirectoriesSync = (path: string, mode = 0o777): string | undefined => {
  try {
    return mkdirSync(path, { recursive: true, mode });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  let first: string | undefined;
  for (const directory of withAncestors(path)) {
    try {
      mkdirSync(directory, { mode });
      first ??= directory;
    } catch (error) {
      unlessItExists(error);
    }
  }
  return first;
};

/** Does the same, and resolves when the new directories are on the disk: a loss of power would take their content with them. */
export const makeDurableDirectories = async (path: string, mode?: number): Promise<void> => {
  const first = await makeDirectories(path, mode);
  for (const parent of parentsOfMade(path, first)) await syncDirectory(parent);
};

/** Does the same at once. */
export const makeDurableDirectoriesSync = (path: string, mode?: number): void => {
  const first = makeDirectoriesSync(path, mode);
  for (const parent of parentsOfMade(path, first)) syncDirectorySync(parent);
};

/**
 * Does the same for a directory that another process may have made a moment ago: writes the names of all directories above it. Directories that this
 * user cannot read are left out.
 */
export const keepDirectoriesSync = (path: string, mode?: number): void => {
  makeDirectoriesSync(path, mode);
  for (const directory of withAncestors(dirname(resolve(path)))) {
    try {
      syncDirectorySync(directory);
    } catch (error) {
      if (codeOf(error) !== 'EACCES') throw error;
    }
  }
};

const parentsOfMade = (path: string, first: string | undefined): readonly string[] => {
  if (first === undefined) return [];
  const made = withAncestors(resolve(path));
  return made.slice(made.indexOf(resolve(first))).map((directory) => dirname(directory));
};

/** Outermost first. */
const withAncestors = (path: string): readonly string[] =>
  dirname(path) === path ? [path] : [...withAncestors(dirname(path)), path];

const unlessItExists = (error: unknown): false => {
  if (codeOf(error) === 'EEXIST') return false;
  throw error;
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
