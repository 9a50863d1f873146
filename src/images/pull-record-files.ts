import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defer, from, ignoreElements, type Observable } from 'rxjs';
import { errorText } from '../model/cri/cri-error.js';
import { withoutNullFields } from '../model/manifest/zero-value.js';
import type { PulledRecord } from '../model/images/pulled-record.js';
import { replaceFile } from '../processes/replace-file.js';
import type { Logger } from '../streams/ports/logger.js';
import type { PullRecords } from '../streams/ports/pull-records.js';

/** The folder of all records, in the root directory. */
const FOLDER = 'image_manager';
const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const CACHE_FILE = /^sha256-[0-9a-f]{64}$/;

/**
 * Records in the folder `image_manager` of the root directory, in the format of the kubelet: one file in `pulled` for
 * each image, one in `pulling` for each pull that has begun. Only their owner can read them. A file that cannot be read
 * is logged and left out of lists.
 *
 * Errors: Node's own, which name the call and the path; a malformed file, by its path.
 * Source: pkg/kubelet/images/pullmanager/fs_pullrecords.go
 */
export const pullRecordFiles = (rootDirectory: string, log: Pick<Logger, 'warn'>): PullRecords => {
  const pulled = folderOf<PulledRecord>(join(rootDirectory, FOLDER, 'pulled'), 'ImagePulledRecord', log);
  const pulling = folderOf<{ readonly image: string }>(join(rootDirectory, FOLDER, 'pulling'), 'ImagePullIntent', log);
  return {
    pulled: (imageRef) => ask(async () => nameGuard(await pulled.read(imageRef), imageRef)),
    everyPulled: () => ask(() => pulled.all()),
    writePulled: (record) => act(() => pulled.write(record.imageRef, record)),
    removePulled: (imageRef) => act(() => pulled.remove(imageRef)),
    intents: () => ask(async () => (await pulling.all()).map(({ image }) => image)),
    writeIntent: (image) => act(() => pulling.write(image, { image })),
    removeIntent: (image) => act(() => pulling.remove(image)),
    hashOf: ({ username, password, identityToken }) =>
      sha256(
        JSON.stringify({
          username: username || undefined,
          password: password || undefined,
          identitytoken: identityToken || undefined,
        }),
      ),
  };
};

/** The numbers of files of these records. */
export interface PullRecordCounts {
  readonly intents: number;
  readonly pulled: number;
}

/** Counts the records without reading them, so that a malformed one counts, too. Errors: Node's own, but 0 for a missing folder. */
export const countPullRecords = async (rootDirectory: string): Promise<PullRecordCounts> => {
  const count = async (folder: string): Promise<number> => {
    const names = await readdir(join(rootDirectory, FOLDER, folder)).catch(undefinedIfMissing);
    return (names ?? []).filter((name) => CACHE_FILE.test(name)).length;
  };
  const [intents, pulled] = await Promise.all([count('pulling'), count('pulled')]);
  return { intents, pulled };
};

/** Ignores a record of another image. */
const nameGuard = (record: PulledRecord | undefined, imageRef: string): PulledRecord | undefined =>
  record?.imageRef === imageRef ? record : undefined;

const folderOf = <Content extends object>(folder: string, kind: string, log: Pick<Logger, 'warn'>) => {
  const pathOf = (key: string): string => join(folder, `sha256-${sha256(key)}`);
  const readPath = async (path: string): Promise<Content> => {
    const content = parse(await readFile(path, 'utf8'), path) as Content & { readonly kind?: unknown };
    if (content.kind !== kind) throw new Error(`${path}: kind is ${JSON.stringify(content.kind)} (expected ${kind})`);
    return content;
  };
  return {
    read: (key: string): Promise<Content | undefined> => readPath(pathOf(key)).catch(undefinedIfMissing),
    all: async (): Promise<readonly Content[]> => {
      const names = await readdir(folder).catch(undefinedIfMissing);
      const found: Content[] = [];
      for (const name of names ?? []) {
        if (!CACHE_FILE.test(name)) continue;
        try {
          found.push(await readPath(join(folder, name)));
        } catch (error) {
          log.warn({ error: errorText(error) }, 'cannot read the record of a pulled image');
        }
      }
      return found;
    },
    write: (key: string, content: Content): Promise<void> =>
      replaceFile(pathOf(key), JSON.stringify({ kind, apiVersion: API_VERSION, ...content }), {
        mode: 0o600,
        directoryMode: 0o700,
      }),
    remove: (key: string): Promise<void> => rm(pathOf(key), { force: true }),
  };
};

const parse = (text: string, path: string): object => {
  let content: unknown;
  try {
    content = JSON.parse(text, withoutNullFields);
  } catch (error) {
    throw new Error(`${path}: ${errorText(error)}`, { cause: error });
  }
  if (typeof content === 'object' && content !== null) return content;
  throw new Error(`${path}: is not an object`);
};

const undefinedIfMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const ask = <T>(read: () => Promise<T>): Observable<T> => defer(() => from(read()));

const act = (write: () => Promise<void>): Observable<never> => defer(() => from(write())).pipe(ignoreElements());
