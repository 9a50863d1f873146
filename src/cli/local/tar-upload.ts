import { createReadStream, type Stats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pack, type Pack } from 'tar-stream';

/**
 * Makes an archive of a file or folder, whose entries begin with `name`. It reads as fast as its reader. Folders are entries
 * only if they are empty, since the modes of existing ones must not change. `warn` gets the lines about files of other kinds.
 *
 * Errors, of the stream: a file cannot be read, or becomes shorter meanwhile.
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/cp/cp.go makeTar
 */
export const tarUpload = (path: string, name: string, warn: (line: string) => void): Pack => {
  const archive = pack();
  addTo(archive, path, name, warn).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error as Error),
  );
  return archive;
};

const addTo = async (archive: Pack, path: string, name: string, warn: (line: string) => void): Promise<void> => {
  const stats = await lstat(path);
  const header = { name, ...factsOf(stats) };
  if (stats.isDirectory()) {
    const names = (await readdir(path)).toSorted();
    if (names.length === 0) archive.entry({ ...header, type: 'directory' });
    for (const one of names) await addTo(archive, join(path, one), `${name}/${one}`, warn);
  } else if (stats.isSymbolicLink()) {
    archive.entry({ ...header, type: 'symlink', linkname: await readlink(path) });
  } else if (!stats.isFile()) {
    warn(`warning: skipping ${JSON.stringify(path)}, which is no file, folder or symlink`);
  } else if (stats.size === 0) {
    archive.entry({ ...header, type: 'file', size: 0 });
  } else {
    const entry = archive.entry({ ...header, type: 'file', size: stats.size });
    // A file that grows meanwhile would be longer than its entry.
    await pipeline(createReadStream(path, { end: stats.size - 1 }), entry);
  }
};

const factsOf = ({ mode, uid, gid, mtime }: Stats) => ({ mode: mode & 0o7777, uid, gid, mtime });
