import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ManifestReading, readManifest } from '../model/manifest/parse-manifest.js';

export interface ReadFile {
  /** `<stdin>` for standard input. */
  readonly file: string;
  readonly reading: ManifestReading;
}

/**
 * What stands in manifests. A directory stands for the files in it whose names do not begin with a dot, `-` for standard input.
 *
 * Errors: a file that cannot be read.
 */
export const readManifests = async (paths: readonly string[]): Promise<readonly ReadFile[]> => {
  const files: ReadFile[] = [];
  for (const path of paths.flatMap(filesOf)) {
    const source = path === '-' ? await text(process.stdin) : readFileSync(path, 'utf8');
    const file = path === '-' ? '<stdin>' : path;
    files.push({ file, reading: readManifest(source, { file }) });
  }
  return files;
};

const filesOf = (path: string): readonly string[] => {
  if (path === '-' || !statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.') && !entry.isDirectory())
    .map(({ name }) => join(path, name))
    .sort();
};
