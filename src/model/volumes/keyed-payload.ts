import type { ConfigMap, Secret } from '../references/referenced-object.js';
import type { FoundObjects } from './found-objects.js';
import type { ReadOnce } from './read-once.js';
import type { VolumeFile, VolumePayload } from './volume-payload.js';

interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

/** A reference of a volume to the keys of a ConfigMap or Secret. */
export interface KeyedSource {
  readonly name: string;
  /** Every key if there are none. */
  readonly items?: readonly KeyToPath[] | undefined;
  readonly optional?: boolean | undefined;
}

/**
 * Returns the files of a ConfigMap: `binaryData` replaces `data` of the same key, except for a key in `items`.
 *
 * Errors: the object or a key of `items` does not exist and is not optional.
 * Source: pkg/volume/configmap/configmap.go MakePayload
 */
export const configMapPayload = (
  source: KeyedSource,
  mode: number,
  found: FoundObjects,
  once: ReadOnce,
): VolumePayload => {
  const configMap = present(source, 'configmap', found.configMap(source.name));
  const contents = once(`configmap ${source.name}, ${hasItems(source)}`, () => {
    const [text, binary] = [textOf(configMap), bytesOf(configMap?.binaryData)];
    return hasItems(source) ? { ...binary, ...text } : { ...text, ...binary };
  });
  return payloadOf(source, mode, contents, 'configmap references non-existent config key');
};

/**
 * Returns the files of a Secret.
 *
 * Errors: the object or a key of `items` does not exist and is not optional.
 * Source: pkg/volume/secret/secret.go MakePayload
 */
export const secretPayload = (
  source: KeyedSource,
  mode: number,
  found: FoundObjects,
  once: ReadOnce,
): VolumePayload => {
  const secret: Secret | undefined = present(source, 'secret', found.secret(source.name));
  const contents = once(`secret ${source.name}`, () => bytesOf(secret?.data));
  return payloadOf(source, mode, contents, 'references non-existent secret key');
};

/** Returns undefined for an optional object that does not exist. */
const present = <T>({ name, optional }: KeyedSource, kind: string, object: T | Error | undefined): T | undefined => {
  if (object instanceof Error) throw object;
  if (object === undefined && !optional) throw new Error(`${kind} ${JSON.stringify(name)} not found`);
  return object;
};

const hasItems = ({ items = [] }: KeyedSource): boolean => items.length > 0;

type Contents = Readonly<Record<string, Uint8Array>>;

const payloadOf = (source: KeyedSource, defaultMode: number, contents: Contents, missing: string): VolumePayload => {
  const { items = [], optional } = source;
  const files = new Map<string, VolumeFile>();
  if (!hasItems(source)) {
    for (const [key, data] of Object.entries(contents)) files.set(key, { data, mode: defaultMode });
    return files;
  }
  for (const { key, path, mode = defaultMode } of items) {
    if (Object.hasOwn(contents, key)) files.set(path, { data: contents[key]!, mode });
    else if (!optional) throw new Error(`${missing}: ${key}`);
  }
  return files;
};

const textOf = (configMap: ConfigMap | undefined): Contents =>
  mapped(configMap?.data, (text) => new Uint8Array(Buffer.from(text)));

const bytesOf = (base64: Readonly<Record<string, string>> | undefined): Contents =>
  mapped(base64, (text) => new Uint8Array(Buffer.from(text, 'base64')));

/** A key such as `__proto__` is a key like every other. */
const mapped = (texts: Readonly<Record<string, string>> | undefined, decode: (text: string) => Uint8Array): Contents =>
  Object.fromEntries(Object.entries(texts ?? {}).map(([key, text]) => [key, decode(text)]));
