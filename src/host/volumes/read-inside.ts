import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { FileCalls } from './file-calls.js';
import { namingPath } from './file-errors.js';
import { ENTRY, openInside, pathOf, requireRelative } from './open-inside.js';
import { resolveInside } from './resolve-inside.js';

const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Reads a regular file of a volume. Links are followed as if the volume were the root directory. The file is opened without
 * touching it, checked, and only then opened for reading: a pipe or a device that a container made is never opened.
 *
 * Errors: the path leads out of the volume or changes meanwhile; it is no regular file, or has more than `maxBytes`; Node's own.
 */
export const readInside = async (
  calls: FileCalls,
  volumeDirectory: string,
  path: string,
  maxBytes: number,
): Promise<Uint8Array> => {
  requireRelative(volumeDirectory, path);
  const base = await calls.realPath(volumeDirectory);
  const full = await resolveInside(calls, base, path);
  const entry = await openInside(calls, base, full, ENTRY);
  try {
    const stats = await entry.stat();
    if (!stats.isFile()) throw new Error(`${full} is not a regular file`);
    if (stats.size > maxBytes) throw tooLarge(full, maxBytes);
    const file = await namingPath(calls.open(pathOf(entry), READ), pathOf(entry), full);
    try {
      return await readAtMost(file, full, maxBytes);
    } finally {
      await file.close();
    }
  } finally {
    await entry.close();
  }
};

/** A container may write into the file meanwhile. */
const readAtMost = async (file: FileHandle, full: string, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let count = 0;
  for (;;) {
    const chunk = new Uint8Array(Math.min(CHUNK_BYTES, maxBytes + 1 - count));
    const { bytesRead } = await file.read(chunk);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, bytesRead));
    count += bytesRead;
    if (count > maxBytes) throw tooLarge(full, maxBytes);
  }
};

const CHUNK_BYTES = 65_536;

const tooLarge = (full: string, maxBytes: number): Error =>
  new Error(`${full} is too large: expected at most ${maxBytes} bytes`);
