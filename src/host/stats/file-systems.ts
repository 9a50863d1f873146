import { join } from 'node:path';
import { defer } from 'rxjs';
import type { MountedFileSystem } from '../../model/stats/node-sample.js';
import { parseDiskTransfers } from '../../model/stats/proc-files.js';
import type { UsageReader } from '../../streams/ports/usage-reader.js';
import { type Mount, mountsIn } from '../files/mount-points.js';
import { readIfThere } from '../files/read-if-there.js';
import { spaceOf } from './directory-usage.js';

export interface FileSystemsOptions {
  readonly proc: string;
  readonly now: () => number;
}

/** File systems whose figures the kernel has in memory. One in the network may not answer, and those in memory belong to pods. */
const LOCAL = /^(ext\d|xfs|btrfs|zfs)$/;

/**
 * Reads the local file systems of the node, each once, and the one of `/` in any case.
 *
 * Source: github.com/google/cadvisor fs/fs.go processMounts, addSystemRootLabel
 */
export const fileSystems = ({ proc, now }: FileSystemsOptions): UsageReader['fileSystems'] => {
  const text = (name: string): string => readIfThere(join(proc, name)) ?? '';
  return () =>
    defer(async () => {
      const timeMs = now();
      const transfers = parseDiskTransfers(text('diskstats'));
      const read = localMounts(mountsIn(text('self/mountinfo'))).map(
        async ({ point, source, device }): Promise<readonly MountedFileSystem[]> => {
          try {
            return [{ source, device, timeMs, space: await spaceOf(point), transfers: transfers.get(device) }];
          } catch {
            return [];
          }
        },
      );
      return (await Promise.all(read)).flat();
    });
};

/** A file system with several mounts, as pods make them, is that of the first one. */
const localMounts = (mounts: readonly Mount[]): readonly Mount[] => {
  const bySource = new Map<string, Mount>();
  const root = mounts.findLast(({ point }) => point === '/');
  for (const mount of [...(root ? [root] : []), ...mounts.filter(({ type }) => LOCAL.test(type))]) {
    if (!bySource.has(mount.source)) bySource.set(mount.source, mount);
  }
  return [...bySource.values()];
};
