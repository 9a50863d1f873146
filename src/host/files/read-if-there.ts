import { readdirSync, readFileSync, statSync } from 'node:fs';
import { isShortage } from '../../model/values/file-error.js';

/**
 * Returns `instead` on an error, which means that the file is absent. Throws if the machine has no free file
 * descriptors or memory.
 */
const orElse = <T>(read: () => T, instead: T): T => {
  try {
    return read();
  } catch (error) {
    if (isShortage(error)) throw error;
    return instead;
  }
};

/**
 * The text of a file; undefined if it is missing or may not be read. Errors: the machine has no free file descriptors
 * or memory.
 */
export const readIfThere = (path: string): string | undefined => orElse(() => readFileSync(path, 'utf8'), undefined);

/**
 * The names in a directory; none if it is missing or may not be read. Errors: the machine has no free file descriptors
 * or memory.
 */
export const namesIfThere = (path: string): readonly string[] => orElse(() => readdirSync(path), []);

/** Whether the path exists, as seen from this process. Errors: the machine has no free file descriptors or memory. */
export const isThere = (path: string): boolean =>
  orElse(() => statSync(path, { throwIfNoEntry: false }), undefined) !== undefined;
