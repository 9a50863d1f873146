import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a directory and its missing ancestors. Resolves with the first directory that it made; undefined if all existed.
 *
 * Errors: the refusal of the kernel. Node by itself reports most refusals, such as `EROFS` of a read-only disk, as `ENOENT`.
 */
export const makeDirectories = async (path: string, mode: number): Promise<string | undefined> => {
  try {
    return await mkdir(path, { recursive: true, mode });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  let first: string | undefined;
  for (const directory of withAncestors(path)) if (await isMade(directory, mode)) first ??= directory;
  return first;
};

/** Outermost first. */
const withAncestors = (path: string): readonly string[] =>
  dirname(path) === path ? [path] : [...withAncestors(dirname(path)), path];

const isMade = async (path: string, mode: number): Promise<boolean> => {
  try {
    await mkdir(path, { mode });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
