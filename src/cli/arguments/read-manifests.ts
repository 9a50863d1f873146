import { lstatSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorText } from '../../model/cri/cri-error.js';
import { DANGLING_LINK, type ManifestFile } from '../../model/config/fold-manifest-listing.js';
import { decodeManifest } from '../../model/manifest/decode-manifest.js';
import type { FileReading } from '../../model/manifest/duplicate-manifests.js';
import type { ManifestReading, ManifestRules } from '../../model/manifest/parse-manifest.js';
import {
  isMissing,
  manifestLister,
  MANIFEST_LIMIT_BYTES,
  readLimited,
  TOO_LARGE,
} from '../../sources/manifest-files.js';
import { manifestReader, type ReadText } from '../../sources/manifest-reader.js';

export interface ReadFile extends FileReading {
  /** The folder from which the agent would read it together with other files; empty for standard input. */
  readonly folder: string;
}

/**
 * Reads manifests as an agent does: a directory stands for its files whose names do not begin with a dot; `-` stands
 * for standard input. A pipe is read to its end.
 *
 * Errors: none; a file that cannot be read is a problem of that file.
 */
export const readManifests = async (
  paths: readonly string[],
  rules: ManifestRules = {},
): Promise<readonly ReadFile[]> => {
  const files: ReadFile[] = [];
  const read = manifestReader(rules);
  const seen = new Set<string>();
  for (const path of paths) {
    for (const { file, content } of await contentsOf(path)) {
      const place = path === '-' ? path : resolve(file);
      // A folder and a file in it may both be given.
      if (seen.has(place)) continue;
      seen.add(place);
      const folder = path === '-' ? '' : dirname(place);
      files.push({ file, folder, reading: await readingOf(file, content, read) });
    }
  }
  return files;
};

const contentsOf = async (path: string): Promise<readonly ManifestFile[]> => {
  if (path === '-') return [{ file: '<stdin>', content: contentOf(await readInput()) }];
  try {
    const status = statSync(path);
    // For example `<(kubectl get …)`; a file that a user names is read.
    if (!status.isFile() && !status.isDirectory()) return [{ file: path, content: contentOf(await readLimited(path)) }];
  } catch (error) {
    return [{ file: path, content: { kind: 'unreadable', message: whyNot(path, error) } }];
  }
  const listing = await manifestLister(path)();
  if (listing.kind === 'files') return listing.files.filter(({ content }) => content.kind !== 'vanished');
  const message = listing.kind === 'missing' ? MISSING : listing.message;
  return [{ file: path, content: { kind: 'unreadable', message } }];
};

/** Standard input, or `undefined` if it exceeds the limit, since it may never end. */
const readInput = async (): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MANIFEST_LIMIT_BYTES) return undefined;
  }
  return Buffer.concat(chunks);
};

const contentOf = (bytes: Buffer | undefined): ManifestFile['content'] => {
  if (!bytes) return { kind: 'unreadable', message: TOO_LARGE };
  const decoded = decodeManifest(bytes);
  return 'problem' in decoded ? { kind: 'unreadable', message: decoded.problem } : { kind: 'text', text: decoded.text };
};

const MISSING = 'does not exist (expected a manifest or a folder of manifests)';

const whyNot = (path: string, error: unknown): string => {
  if (!isMissing(error)) return `cannot be read: ${errorText(error)}`;
  return lstatSync(path, { throwIfNoEntry: false }) ? DANGLING_LINK : MISSING;
};

const readingOf = async (file: string, content: ManifestFile['content'], read: ReadText): Promise<ManifestReading> => {
  if (content.kind === 'text')
    return read(content.text, { file }).catch((error: unknown) => unread(file, errorText(error)));
  return unread(file, content.kind === 'unreadable' ? content.message : DANGLING_LINK);
};

const unread = (file: string, message: string): ManifestReading => {
  const problem = { file, document: 1, line: 1, column: 1, field: '', message };
  return { pods: [], objects: [], problems: [problem], warnings: [] };
};
