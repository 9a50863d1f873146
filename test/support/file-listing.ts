import { lstatSync, readdirSync, readlinkSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Everything below a folder, one line for each path: its kind, mode, owner, inode, and the times of its last change of content and of
 * metadata, with the content of files and the targets of links. No file is opened that could block.
 */
export const fileListing = (folder: string): readonly string[] => {
  const lines: string[] = [];
  const list = (path: string): void => {
    const stats = lstatSync(path, { bigint: true });
    const { mode, uid, gid, ino, mtimeNs, ctimeNs } = stats;
    const content = stats.isFile() ? readFileSync(path, 'hex') : stats.isSymbolicLink() ? readlinkSync(path) : '';
    lines.push(`${path} ${mode.toString(8)} ${uid}:${gid} ${ino} ${mtimeNs} ${ctimeNs} ${content}`);
    if (stats.isDirectory()) for (const name of readdirSync(path).toSorted()) list(join(path, name));
  };
  list(folder);
  return lines;
};
