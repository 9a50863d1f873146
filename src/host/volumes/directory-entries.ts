import type { Dirent } from 'node:fs';
import type { FileCalls, Path } from './file-calls.js';

/** An entry of a directory. The name is in bytes, since names need not be UTF-8. */
export interface DirectoryEntry {
  readonly path: Buffer;
  readonly isDirectory: boolean;
}

/** Returns all entries of a directory; links are not followed. */
export const entriesIn = async (calls: FileCalls, directory: Path): Promise<readonly DirectoryEntry[]> => {
  const entries: DirectoryEntry[] = [];
  const prefix = Buffer.concat([Buffer.from(directory), Buffer.from('/')]);
  for await (const entry of (await calls.openDirectory(directory)) as AsyncIterable<Dirent>) {
    const path = Buffer.concat([prefix, entry.name as unknown as Buffer]);
    entries.push({ path, isDirectory: entry.isDirectory() });
  }
  return entries;
};
