import type { FSWatcher } from 'node:fs';
import type { Writable } from 'node:stream';
import { closeSync, fstatSync, openSync, readSync, watch } from '../../machine/machine.js';

const PIECE_BYTES = 64 * 1024;

/** Output that is read from a file while a process appends to it. */
export interface FollowedOutput {
  /** The position of the next byte. */
  readonly offset: () => number;
  /** Passes on all that is in the file now. */
  readonly settled: () => Promise<void>;
  readonly close: () => void;
}

/**
 * Passes on what is appended to the file from now on, as fast as the target takes it. Errors: the file cannot be read.
 */
export const followOutput = (path: string, target: Writable): FollowedOutput => {
  const file = openSync(path, 'r');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let offset = fstatSync(file).size;
  let isClosed = false;
  let pumping: Promise<void> | undefined;
  let again = false;
  const write = (data: Buffer): Promise<void> => new Promise((resolve) => target.write(data, () => resolve()));
  const pump = async (): Promise<void> => {
    while (again) {
      again = false;
      for (;;) {
        const read = isClosed || target.destroyed ? 0 : readSync(file, piece, 0, PIECE_BYTES, offset);
        if (read === 0) break;
        await write(Buffer.from(piece.subarray(0, read)));
        offset += read;
      }
    }
  };
  const poke = (): Promise<void> => {
    again = true;
    return (pumping ??= pump().finally(() => (pumping = undefined)));
  };
  let watcher: FSWatcher;
  try {
    watcher = watch(path, { persistent: false }, () => void poke().catch(() => target.destroy()));
    watcher.on('error', () => target.destroy());
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return {
    offset: () => offset,
    settled: poke,
    close: () => {
      isClosed = true;
      watcher.close();
      closeSync(file);
    },
  };
};
