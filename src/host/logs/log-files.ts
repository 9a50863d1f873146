import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { defer, from, ignoreElements, type Observable } from 'rxjs';
import { compressedNames } from '../../model/upkeep/log-rotation.js';
import { syncDirectory } from '../../processes/sync-directory.js';
import type { LogFiles } from '../../streams/ports/log-files.js';

/** The `LogFiles` port for the file system of this machine. Errors: Node's own, which name the call and the path. */
export const logFiles: LogFiles = {
  size: (path) => defer(() => from(sizeOf(path))),
  rotated: (path) =>
    defer(async () => {
      const names = await readdir(dirname(path)).catch(ifMissing([]));
      const isRotated = (name: string): boolean => name.startsWith(`${basename(path)}.`) && !name.includes(REPLACED);
      return names.filter(isRotated).map((name) => join(dirname(path), name));
    }),
  rename: (from, to) => effect(() => rename(from, to)),
  compress: (path) => effect(() => compress(path)),
  remove: (path) => effect(() => rm(path, { force: true })),
  utcOffsetMinutes: (at) => -new Date(at).getTimezoneOffset(),
};

/** In a name that is not UTF-8, which no rotated log has. No call would find such a file, and a rotation would fail each time. */
const REPLACED = '\uFFFD';

const sizeOf = (path: string): Promise<bigint | undefined> =>
  stat(path, { bigint: true }).then(({ size }) => size, ifMissing(undefined));

/** The compressed copy is on disk before it is renamed, and its name before the original is removed. */
const compress = async (path: string): Promise<void> => {
  const { draft, final } = compressedNames(path);
  try {
    const { mode } = await stat(path);
    await pipeline(createReadStream(path), createGzip(), createWriteStream(draft, { flush: true, mode: 0o600 }));
    await chmod(draft, mode & 0o777);
    await rename(draft, final);
    await syncDirectory(dirname(final));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await rm(path);
};

const effect = (run: () => Promise<unknown>): Observable<never> => defer(() => from(run())).pipe(ignoreElements());

const ifMissing =
  <T>(instead: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return instead;
    throw error;
  };
