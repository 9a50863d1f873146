import { createHash } from 'node:crypto';
import { type BigIntStats, type FSWatcher, watch as watchFile } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Observable } from 'rxjs';
import type { ManifestFile, ManifestListing } from '../model/fold-manifest-listing.js';

/** Source: pkg/kubelet/config/common.go maxConfigLength. */
export const MANIFEST_LIMIT_BYTES = 10 * 1024 * 1024;

/** A file that changed so recently may change again without its times showing it. */
const RACY_MS = 1000;

const CHUNK_BYTES = 64 * 1024;

interface Known {
  readonly stamp: string;
  /** Of the text; empty while the file cannot be read. */
  readonly digest: string;
}

/**
 * Lists the manifests at a path: the file itself, or the files of the directory in the order of their names, without those
 * that begin with a dot and without subdirectories. Only what changed since this lister's last call is read.
 *
 * Errors: none; they are part of the listing. Files that vanish meanwhile are left out.
 */
export const manifestLister = (path: string): (() => Promise<ManifestListing>) => {
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
      const found = await readChanged(file, known.get(file)).catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      if (!found) continue;
      next.set(file, found.known);
      listed.push({ file, content: found.content });
    }
    known = next;
    return { kind: 'files', files: listed };
  };
};

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

const readChanged = async (
  file: string,
  known: Known | undefined,
): Promise<{ readonly known: Known; readonly content: ManifestFile['content'] } | undefined> => {
  const status = await stat(file, { bigint: true });
  // A link to a directory is a subdirectory as well.
  if (status.isDirectory()) return undefined;
  const stamp = stampOf(status);
  if (known?.stamp === stamp) return { known, content: { kind: 'unchanged' } };
  const unreadable = (message: string) => ({
    known: { stamp, digest: '' },
    content: { kind: 'unreadable' as const, message },
  });
  if (!status.isFile()) return unreadable('is not a regular file (expected a manifest)');
  let text: Buffer | undefined;
  try {
    text = await readLimited(file);
  } catch (error) {
    if (isMissing(error)) throw error;
    return unreadable(messageOf(error));
  }
  if (!text) return unreadable(`is larger than ${MANIFEST_LIMIT_BYTES} bytes, the limit of a manifest`);
  const digest = createHash('sha256').update(text).digest('base64');
  const isRacy = Date.now() - Number(status.mtimeMs) < RACY_MS;
  const now = { stamp: isRacy ? '' : stamp, digest };
  if (known?.digest === digest) return { known: now, content: { kind: 'unchanged' } };
  return { known: now, content: { kind: 'text', text: text.toString('utf8') } };
};

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs, mode].join(':');

/** The whole file, or `undefined` when it is past the limit, however large it has become meanwhile. */
const readLimited = async (file: string): Promise<Buffer | undefined> => {
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
 * Emits once watching has begun and on everything that happens at the path; see `Watched.watch` for `check$`.
 *
 * Errors: when the path cannot be watched, above all because it does not exist (`isMissing`).
 * Ends:   when the path no longer is what it was, since a watch stays with the old inode.
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

/** Something on the way to the path does not exist, or not yet. */
export const isMissing = (error: unknown): boolean =>
  isCoded(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

const messageOf = (error: unknown): string => {
  if (isCoded(error)) return `cannot be read (${error.code})`;
  return error instanceof Error ? error.message : String(error);
};
