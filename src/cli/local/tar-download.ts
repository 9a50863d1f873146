import { createWriteStream } from 'node:fs';
import { copyFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Extract, Header } from 'tar-stream';
import { baseName, entryPath } from '../../model/server/copy-paths.js';
import { makeDirectories } from '../../processes/make-directories.js';

export interface TarDownload {
  /** The path that was copied. */
  readonly copied: string;
  /** The path on this machine. A file goes into a folder that exists, under its own name. */
  readonly target: string;
  readonly warn: (line: string) => void;
}

/**
 * Writes the entries of an archive; resolves at its end. The archive comes from a container: no entry leads out of the target, and
 * symlinks are left out.
 *
 * Errors: the archive is malformed; a file cannot be written.
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/cp/cp.go untarAll
 */
export const tarDownload = async (archive: Extract, { copied, target, warn }: TarDownload): Promise<void> => {
  let root: string | undefined;
  for await (const entry of archive) {
    const { header } = entry;
    root ??= header.type !== 'directory' && (await isFolder(target)) ? join(target, baseName(copied)) : target;
    const path = entryPath(header.name, copied);
    if (path === undefined)
      warn(`warning: file ${JSON.stringify(header.name)} is outside target destination, skipping`);
    else if (header.type === 'symlink') {
      warn(`warning: skipping symlink: ${JSON.stringify(`${root}${path}`)} -> ${JSON.stringify(header.linkname)}`);
    } else if (header.type === 'directory') await makeDirectories(`${root}${path}`);
    else if (header.type === 'link') await copyLinked(header, { copied, root, path });
    else if (header.type === 'file' || header.type === 'contiguous-file') {
      await makeDirectories(dirname(`${root}${path}`));
      // The streams of the package emit nothing for who comes later: a copy of one that has ended meanwhile would wait forever.
      if (entry.destroyed) throw new Error('the archive ended within a file');
      await pipeline(entry, createWriteStream(`${root}${path}`, { mode: (header.mode ?? 0o666) & 0o777 }));
      continue;
    } else warn(`warning: skipping ${JSON.stringify(`${root}${path}`)}, which is no file, folder or symlink`);
    entry.resume();
  }
};

/** A further name of a file of the archive gets a copy. */
const copyLinked = async (
  { linkname }: Header,
  { copied, root, path }: { readonly copied: string; readonly root: string; readonly path: string },
): Promise<void> => {
  const source = entryPath(linkname ?? '', copied);
  if (source === undefined) throw new Error('tar contents corrupted');
  await makeDirectories(dirname(`${root}${path}`));
  await copyFile(`${root}${source}`, `${root}${path}`);
};

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
