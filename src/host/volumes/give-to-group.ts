import { fsGroupMode } from '../../model/volumes/fs-group.js';
import type { VolumeOwnership } from '../../model/volumes/volume-setup.js';
import { entriesIn } from './directory-entries.js';
import type { FileCalls, Path } from './file-calls.js';

/**
 * Gives a volume to its group: each file and directory, a directory after its content. It follows no links, and leaves
 * other file systems alone.
 *
 * Source: pkg/volume/volume_linux.go
 */
export const giveToGroup = async (
  calls: FileCalls,
  directory: string,
  { fsGroup, readOnly }: VolumeOwnership,
): Promise<void> => {
  const { dev } = await calls.lstat(directory);
  const give = async (path: Path): Promise<void> => {
    const stats = await calls.lstat(path);
    if (stats.dev !== dev) return;
    if (stats.isDirectory()) for (const entry of await entriesIn(calls, path)) await give(entry.path);
    await calls.chown(path, -1, fsGroup);
    // The mode of a link is that of its target.
    if (!stats.isSymbolicLink()) await calls.chmod(path, fsGroupMode(stats.mode, stats.isDirectory(), readOnly));
  };
  await give(directory);
};
