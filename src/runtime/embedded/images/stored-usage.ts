import { join } from 'node:path';
import { isGone, lstatSync, readdirSync } from '../machine/machine.js';

const BLOCK_BYTES = 512n;

/** Space on a disk. */
export interface StoredUsage {
  readonly bytes: bigint;
  readonly inodes: bigint;
}

/**
 * The space of all files and directories below the directory, without those that are removed meanwhile. The event loop runs between two
 * directories. Errors: it cannot be read.
 */
export const storedUsage = async (directory: string): Promise<StoredUsage> => {
  let [bytes, inodes] = [0n, 0n];
  const left = [directory];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const entry of entriesOf(next)) {
      const path = join(next, entry.name);
      const blocks = blocksOf(path);
      if (blocks === undefined) continue;
      bytes += BLOCK_BYTES * blocks;
      inodes += 1n;
      if (entry.isDirectory()) left.push(path);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { bytes, inodes };
};

const entriesOf = (directory: string): readonly { readonly name: string; readonly isDirectory: () => boolean }[] => {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
};

const blocksOf = (path: string): bigint | undefined => {
  try {
    return BigInt(lstatSync(path).blocks);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
};
