import { lstat, opendir, statfs } from 'node:fs/promises';
import { defer, Observable } from 'rxjs';
import type { DirectoryFigures, FileSystemFigures } from '../../model/stats/node-sample.js';
import { isAbsence } from '../../model/values/file-error.js';
import { type BytePath, bytePath, osPath } from '../../processes/byte-path.js';
import type { UsageReader } from '../../streams/ports/usage-reader.js';

/**
 * Walks a directory as `du` does: allocated blocks, a file with several names once, no other file systems. Files that are removed
 * during the walk do not count.
 *
 * Source: pkg/volume/util/fs/fs.go DiskUsage
 */
export const directoryUsage =
  (now: () => number): UsageReader['directory'] =>
  (path) =>
    new Observable((subscriber) => {
      walk(path, () => subscriber.closed).then(
        (space) => {
          subscriber.next({ timeMs: now(), ...space });
          subscriber.complete();
        },
        (error: unknown) => subscriber.error(error),
      );
    });

const walk = async (top: string, isOver: () => boolean): Promise<Omit<DirectoryFigures, 'timeMs'>> => {
  const { dev } = await lstat(top);
  const seen = new Set<number>();
  let usedBytes = 0;
  const count = async (path: BytePath): Promise<boolean> => {
    const stats = await lstat(osPath(path));
    if (stats.dev !== dev || seen.has(stats.ino)) return false;
    seen.add(stats.ino);
    usedBytes += stats.blocks * 512;
    return stats.isDirectory();
  };
  const directories = (await count(bytePath(top))) ? [bytePath(top)] : [];
  for (let directory = directories.pop(); directory !== undefined && !isOver(); directory = directories.pop()) {
    try {
      for await (const { name } of await opendir(osPath(directory), { encoding: 'latin1' })) {
        if (isOver()) break;
        const path = `${directory}/${name}`;
        if (await count(path).catch(unlessGone)) directories.push(path);
      }
    } catch (error) {
      unlessGone(error);
    }
  }
  return { usedBytes, inodesUsed: seen.size };
};

const unlessGone = (error: unknown): false => {
  if (isAbsence(error)) return false;
  throw error;
};

/** The device of the file system of a path. Errors: Node's own. */
export const deviceOf: UsageReader['device'] = (path) => defer(async () => String((await lstat(path)).dev));

/** The space of the file system of a path. */
export const spaceOf = async (path: string): Promise<FileSystemFigures> => {
  const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
  return {
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
  };
};

export const fileSystemUsage: UsageReader['fileSystem'] = (path) => defer(() => spaceOf(path));
