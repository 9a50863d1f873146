import { constants, type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { defer, from, Observable, type Subscription } from 'rxjs';
import { isAbsence } from '../../model/values/file-error.js';
import type { LogReading, OpenLog } from '../../streams/ports/log-reading.js';

/** The `LogReading` port for the file system of this machine. Errors: Node's own, which name the call and the path. */
export const logReading: LogReading = {
  open: <T>(path: string, use: (file: OpenLog | undefined) => Observable<T>) =>
    new Observable<T>((subscriber) => {
      let handle: FileHandle | undefined;
      let using: Subscription | undefined;
      const begin = async () => {
        handle = await openIfThere(path);
        const file = handle && (await openLog(handle, path));
        if (subscriber.closed) await handle?.close();
        else using = use(file).subscribe(subscriber);
      };
      begin().catch((error: unknown) => subscriber.error(error));
      return () => {
        using?.unsubscribe();
        // It waits for a read that has begun. A file that cannot be closed has no reader any more.
        handle?.close().catch(() => undefined);
      };
    }),
  identity: (path) => defer(() => from(identityAt(path))),
  changes: (path) =>
    new Observable<void>((subscriber) => {
      let watcher: FSWatcher | undefined;
      const begin = async () => {
        // A link is resolved, since the folder of its target has the events.
        const target = await realpath(path).catch(() => path);
        if (subscriber.closed) return;
        watcher = watch(dirname(target), { persistent: false }, (_event, name) => {
          if (name === null || name === basename(target)) subscriber.next();
        });
        watcher.on('error', (error) => subscriber.error(error));
        subscriber.next();
      };
      begin().catch((error: unknown) => subscriber.error(error));
      return () => watcher?.close();
    }),
};

/** Without O_NONBLOCK the opening of a pipe waits for a writer. */
const openIfThere = (path: string): Promise<FileHandle | undefined> =>
  open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if (isAbsence(error)) return undefined;
    throw error;
  });

/** Errors: the file is not a regular one; it is closed then. */
const openLog = async (handle: FileHandle, path: string): Promise<OpenLog> => {
  const { dev, ino, isFile } = await handle.stat({ bigint: true }).then((status) => ({
    dev: status.dev,
    ino: status.ino,
    isFile: status.isFile(),
  }));
  if (!isFile) throw new Error(`${path} is not a regular file (expected a log)`);
  return {
    identity: `${dev}:${ino}`,
    size: () => defer(async () => (await handle.stat()).size),
    read: (position, length) =>
      defer(async () => {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
        return buffer.subarray(0, bytesRead);
      }),
  };
};

const identityAt = async (path: string): Promise<string | undefined> => {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
};
