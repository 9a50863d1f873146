import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { defer, from, ignoreElements, type Observable } from 'rxjs';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { Pod } from '../../model/pod/pod.js';
import type { KnownPods, LastKnown } from '../../streams/ports/last-known.js';
import type { Logger } from '../../streams/ports/logger.js';
import { replaceFile } from '../../processes/replace-file.js';

export interface LastKnownPlace {
  /** The root directory of the agent; the files are in its folder `last-known`. */
  readonly rootDirectory: string;
  readonly nodeName: string;
  /** The API server, such as `https://10.0.0.1:6443`. */
  readonly server: string;
  /**
   * Keeps Secrets too, readable by the user of the agent only, and not encrypted. Otherwise the Secrets on disk are
   * removed.
   */
  readonly keepsSecrets: boolean;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

const FORMAT = 1;

/**
 * Files below the root directory: `last-known/pods.json`, and one file for each object that pods refer to. Only their
 * owner can read them, and each is replaced as a whole. A broken file is logged, renamed to `….broken` and counts as
 * missing. A file of another node or API server is ignored.
 *
 * Errors: Node's own, which name the path.
 */
export const lastKnownFiles = (place: LastKnownPlace): LastKnown => {
  const folder = folderOf(place.rootDirectory);
  const podsPath = join(folder, 'pods.json');
  // A folder of its own, so that all Secrets can be removed without reading them.
  const secretsFolder = join(folder, 'secrets');
  const objectsFolder = join(folder, 'objects');
  const objectPath = (key: string): string =>
    join(isSecret(key) ? secretsFolder : objectsFolder, `${createHash('sha256').update(key).digest('hex')}.json`);
  const texts = new WeakMap<Pod, string>();
  /** Most pods of a set were in the set before, so their texts are kept. */
  const textOf = (pod: Pod): string => {
    const text = texts.get(pod) ?? JSON.stringify(pod);
    texts.set(pod, text);
    return text;
  };

  return {
    readPods: () =>
      defer(async () => {
        await removeLeftovers(folder);
        const found = await readOf(podsPath, place);
        if (found === undefined) return undefined;
        const { pods, resourceVersion, at } = found;
        if (Array.isArray(pods) && typeof resourceVersion === 'string' && typeof at === 'number')
          return { pods: pods as readonly Pod[], resourceVersion, at };
        await putAside(podsPath, 'expected pods, resourceVersion and at', place);
        return undefined;
      }),
    writePods: ({ pods, resourceVersion, at }: KnownPods) =>
      act(() => {
        const head = JSON.stringify({ ...headOf(place), resourceVersion, at });
        return write(podsPath, `${head.slice(0, -1)},"pods":[\n${pods.map(textOf).join(',\n')}\n]}\n`);
      }),
    readObjects: () =>
      defer(async () => {
        if (!place.keepsSecrets) await rm(secretsFolder, { recursive: true, force: true });
        for (const each of [objectsFolder, secretsFolder]) await removeLeftovers(each);
        const objects = new Map<string, ApiObject>();
        for (const path of [...(await filesIn(objectsFolder)), ...(await filesIn(secretsFolder))]) {
          try {
            const found = await readOf(path, place);
            if (found === undefined) continue;
            const { key, object } = found;
            if (typeof key === 'string' && typeof object === 'object' && object !== null)
              objects.set(key, object as ApiObject);
            else await putAside(path, 'expected key and object', place);
          } catch (error) {
            place.log.warn({ path, error: errorText(error) }, 'cannot read a saved object');
          }
        }
        return objects;
      }),
    writeObject: (key, object) =>
      act(async () => {
        if (isSecret(key) && !place.keepsSecrets) return;
        await write(objectPath(key), `${JSON.stringify({ ...headOf(place), key, object })}\n`);
      }),
    removeObject: (key) => act(() => rm(objectPath(key), { force: true })),
  };
};

/** Removes all files of this folder. For an agent that keeps nothing. A missing folder is fine. */
export const forgetLastKnown = (rootDirectory: string): Observable<never> =>
  act(() => rm(folderOf(rootDirectory), { recursive: true, force: true }));

const folderOf = (rootDirectory: string): string => join(rootDirectory, 'last-known');

/** A file of an unfinished write is younger than this. */
const LEFT_AFTER_MS = 60_000;

/** Removes the unfinished files of an agent that was killed during a write. A file that cannot be removed stays. */
const removeLeftovers = (folder: string): Promise<void> => removeOld(folder).catch(() => undefined);

const removeOld = async (folder: string): Promise<void> => {
  for (const name of (await readdir(folder).catch(undefinedIfMissing)) ?? []) {
    const path = join(folder, name);
    if (!/\.json\.\d+$/.test(name)) continue;
    const { mtimeMs } = await stat(path);
    if (mtimeMs < Date.now() - LEFT_AFTER_MS) await rm(path, { force: true });
  }
};

const filesIn = async (folder: string): Promise<readonly string[]> =>
  ((await readdir(folder).catch(undefinedIfMissing)) ?? [])
    .filter((name) => /^[0-9a-f]{64}\.json$/.test(name))
    .map((name) => join(folder, name));

const isSecret = (key: string): boolean => key.startsWith('Secret ');

const headOf = ({ nodeName, server }: LastKnownPlace): object => ({ format: FORMAT, nodeName, server });

const write = (path: string, text: string): Promise<void> =>
  replaceFile(path, text, { mode: 0o600, directoryMode: 0o700 });

/** The content of a file that belongs to this node and server; undefined if it is missing or unusable. */
const readOf = async (path: string, place: LastKnownPlace): Promise<Readonly<Record<string, unknown>> | undefined> => {
  const text = await readFile(path, 'utf8').catch(undefinedIfMissing);
  if (text === undefined) return undefined;
  let content: Readonly<Record<string, unknown>>;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Error('expected an object');
    content = parsed as Readonly<Record<string, unknown>>;
    if (content.format !== FORMAT) throw new Error(`expected format ${FORMAT}, not ${JSON.stringify(content.format)}`);
  } catch (error) {
    await putAside(path, errorText(error), place);
    return undefined;
  }
  const { nodeName, server } = content;
  if (nodeName === place.nodeName && server === place.server) return content;
  place.log.info({ path, nodeName, server }, 'a saved file belongs to another node or API server and is ignored');
  return undefined;
};

const putAside = async (path: string, error: string, { log }: LastKnownPlace): Promise<void> => {
  const aside = `${path}.broken`;
  await rename(path, aside);
  log.warn({ path, aside, error }, 'a saved file is broken; it is renamed and ignored');
};

const undefinedIfMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};

const act = (run: () => Promise<unknown>): Observable<never> => defer(() => from(run())).pipe(ignoreElements());
