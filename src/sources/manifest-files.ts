import { createHash } from 'node:crypto';
import { type BigIntStats, type FSWatcher, watch as watchFile } from 'node:fs';
import { lstat, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Observable } from 'rxjs';
import { errorText } from '../model/cri/cri-error.js';
import type { ManifestFile, ManifestListing } from '../model/config/fold-manifest-listing.js';
import { isAbsence, isShortage } from '../model/values/file-error.js';
import { fileStamp } from '../model/values/file-stamp.js';
import { decodeManifest } from '../model/manifest/decode-manifest.js';

/** Source: pkg/kubelet/config/common.go maxConfigLength. */
export const MANIFEST_LIMIT_BYTES = 10 * 1024 * 1024;

export const TOO_LARGE = `is larger than ${MANIFEST_LIMIT_BYTES} bytes, the limit of a manifest`;

const CHUNK_BYTES = 64 * 1024;

interface Known {
  /** The stamp of the file when it was read; undefined if only a new read shows whether the file has changed. */
  readonly stamp: string | undefined;
  /** The digest of the text; empty without a text. */
  readonly digest: string;
}

/** The file system calls of the lister. Tests replace them together with the clock. */
export interface ManifestDisk {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly stat: (path: string) => Promise<BigIntStats>;
}

const DISK: ManifestDisk = { now: () => Date.now(), stat: (path) => stat(path, { bigint: true }) };

/**
 * Lists the manifests at a path: the file itself, or the files of the directory in the order of their names, without
 * subdirectories and names that begin with a dot. It reads only the files that changed since the previous call of this
 * lister.
 *
 * Errors: none; the listing contains the errors, each with its entry.
 */
export const manifestLister = (path: string, disk: ManifestDisk = DISK): (() => Promise<ManifestListing>) => {
  let known = new Map<string, Known>();
  return async () => {
    let files: readonly string[];
    try {
      files = await filesAt(path);
    } catch (error) {
      if (isMissing(error)) {
        known = new Map();
        return { kind: 'missing' };
      }
      return { kind: 'unreadable', message: messageOf(error) };
    }
    const next = new Map<string, Known>();
    const listed: ManifestFile[] = [];
    for (const file of files) {
      const found = await readChanged(file, known.get(file), disk)
        .catch((error: unknown) => {
          if (isMissing(error)) return missingEntry(file);
          throw error;
        })
        .catch((error: unknown) => failedEntry(messageOf(error), isShortage(error)));
      if (!found) continue;
      next.set(file, found.known);
      listed.push({ file, content: found.content });
    }
    known = next;
    return { kind: 'files', files: listed };
  };
};

interface Entry {
  readonly known: Known;
  readonly content: ManifestFile['content'];
}

const filesAt = async (path: string): Promise<readonly string[]> => {
  const status = await stat(path);
  if (status.isFile()) return [path];
  if (!status.isDirectory()) throw new Error('is neither a file nor a directory');
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.name.startsWith('.') && !entry.isDirectory())
    .map(({ name }) => name)
    .sort(byCodeUnits)
    .map((name) => join(path, name));
};

const byCodeUnits = (one: string, other: string): number => (one < other ? -1 : 1);

/** Errors: the file cannot be read. */
const readChanged = async (file: string, known: Known | undefined, disk: ManifestDisk): Promise<Entry | undefined> => {
  const status = await disk.stat(file);
  // A link to a directory is a subdirectory as well.
  if (status.isDirectory()) return undefined;
  const stamp = fileStamp(status, disk.now());
  if (known && stamp !== undefined && known.stamp === stamp) return { known, content: { kind: 'unchanged' } };
  const read = { stamp, digest: '' };
  const unusable = (message: string): Entry => ({ known: read, content: { kind: 'unreadable', message } });
  // Opening a pipe might block forever.
  if (!status.isFile()) return unusable('is not a regular file (expected a manifest)');
  const bytes = await readLimited(file);
  if (!bytes) return unusable(TOO_LARGE);
  const decoded = decodeManifest(bytes);
  if ('problem' in decoded) return unusable(decoded.problem);
  const digest = createHash('sha256').update(bytes).digest('base64');
  const content =
    known?.digest === digest ? { kind: 'unchanged' as const } : { kind: 'text' as const, ...decoded, digest };
  return { known: { ...read, digest }, content };
};

/** No timestamp shows when the file becomes readable, so each listing reads it again. */
const failedEntry = (message: string, isUnknown = false): Entry => ({
  known: { stamp: undefined, digest: '' },
  content: { kind: 'unreadable', message, ...(isUnknown && { isUnknown }) },
});

const missingEntry = async (file: string): Promise<Entry> => {
  const isLink = await lstat(file).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
  // Node decodes bytes that are not UTF-8 to this character, and no file has the resulting name.
  if (!isLink && file.includes('\uFFFD')) return failedEntry('has a name that is not UTF-8 (expected one that is)');
  return { known: { stamp: undefined, digest: '' }, content: { kind: isLink ? 'dangling' : 'vanished' } };
};

/** The whole file, or `undefined` if it exceeds the limit, even if it grows during the read. */
export const readLimited = async (file: string): Promise<Buffer | undefined> => {
  const handle = await open(file, 'r');
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    while (length <= MANIFEST_LIMIT_BYTES) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES));
      if (bytesRead === 0) return Buffer.concat(chunks);
      chunks.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
    }
    return undefined;
  } finally {
    await handle.close();
  }
};

/**
 * Emits once when watching has begun, and for every change at the path; see `Watched.watch` for `check$`.
 *
 * Errors: the path cannot be watched, for example because it does not exist (`isMissing`).
 * Ends:   when another file or directory takes the path, since a watch stays with the old inode.
 */
export const watchPath =
  (path: string) =>
  (check$: Observable<unknown>): Observable<void> =>
    new Observable<void>((subscriber) => {
      let watcher: FSWatcher | undefined;
      const begin = async () => {
        const watched = await inodeAt(path);
        if (subscriber.closed) return;
        watcher = watchFile(path, { persistent: false });
        const look = () => {
          inodeAt(path).then(
            (inode) => {
              if (inode === watched) return;
              subscriber.complete();
            },
            () => subscriber.complete(),
          );
        };
        watcher.on('error', (error) => subscriber.error(error));
        watcher.on('change', () => {
          subscriber.next();
          look();
        });
        subscriber.add(check$.subscribe(look));
        subscriber.next();
      };
      begin().catch((error: unknown) => subscriber.error(error));
      return () => watcher?.close();
    });

const inodeAt = async (path: string): Promise<string> => {
  const { dev, ino } = await stat(path, { bigint: true });
  return `${dev}:${ino}`;
};

const isCoded = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string';

/** A directory or file of the path does not exist. */
export const isMissing = isAbsence;

const messageOf = (error: unknown): string => {
  if (isCoded(error)) return `cannot be read (${error.code})`;
  return errorText(error);
};
