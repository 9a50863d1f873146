import { defer, from, lastValueFrom, type Observable } from 'rxjs';
import type { ReadLogFile } from '../../streams/ports/node-journal.js';
import { openBelow } from './open-below.js';

const BLOCK_BYTES = 65_536;

/** Reads regular files below a directory, a block at a time. A folder, a pipe and a link that leads out count as missing. */
export const readBelow =
  (directory: string): ReadLogFile =>
  (path, ready) =>
    defer(() => from(blocks(directory, path, ready)));

async function* blocks(directory: string, path: string, ready: () => Observable<unknown>): AsyncGenerator<Uint8Array> {
  const opened = await openBelow(directory, path);
  if (!opened) throw missing(path);
  const { handle } = opened;
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw missing(path);
    // A file that grows meanwhile is read to the end that it had, or a query would not end.
    for (let position = 0; position < status.size;) {
      const size = Math.min(BLOCK_BYTES, status.size - position);
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(size), 0, size, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
      await lastValueFrom(ready(), { defaultValue: undefined });
    }
  } finally {
    await handle.close();
  }
}

const missing = (path: string): Error => Object.assign(new Error(`no log file at ${path}`), { code: 'ENOENT' });
