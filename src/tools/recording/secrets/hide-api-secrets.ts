import { binaryText } from '../entries/encode-value.js';
import { hideDockerConfig } from './hide-pull-secret.js';
import { base64, type SecretKeeper } from './secret-keeper.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Replaces the secret parts of values from and for the API server by placeholders: the values of Secrets, and tokens. A
 * reader that decodes them gets the placeholders. The texts of pods are public from then on.
 */
export const hideApiSecrets = (value: unknown, keeper: SecretKeeper): unknown => {
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, hideApiSecrets(item, keeper)]));
  if (Array.isArray(value)) return value.map((item: unknown) => hideApiSecrets(item, keeper));
  if (!isFields(value)) return value;
  switch (value['kind']) {
    case 'Secret':
      return hideSecret(value, keeper);
    case 'SecretList':
      return { ...value, items: itemsOf(value).map((item) => hideSecret(item, keeper)) };
    case 'TokenRequest':
      return hideToken(value, keeper);
    case 'Pod':
      keeper.publish(`pod ${uidOf(value)}`, openPart(value));
      return value;
    case 'PodList':
      keeper.publish('pods of the API', itemsOf(value).map(openPart));
      return value;
    // An event of a watch.
    case 'event':
      return { ...value, object: hideApiSecrets(value['object'], keeper) };
    default:
      if (Array.isArray(value['pods']))
        keeper.publish('pods that were kept', value['pods'].filter(isFields).map(openPart));
      return value;
  }
};

const hideSecret = (secret: Fields, keeper: SecretKeeper): Fields => {
  const { data, metadata } = secret;
  const hidden: Record<string, unknown> = { ...secret };
  if (isFields(data))
    hidden['data'] = Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, typeof text === 'string' ? hideValue(key, text, keeper) : text]),
    );
  if (isFields(metadata) && isFields(metadata['annotations']))
    hidden['metadata'] = { ...metadata, annotations: hideAnnotations(metadata['annotations'], keeper) };
  return hidden;
};

/** An earlier version as a whole, in plain JSON. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const hideAnnotations = (annotations: Fields, keeper: SecretKeeper): Fields => {
  const applied = annotations[LAST_APPLIED];
  return typeof applied === 'string' ? { ...annotations, [LAST_APPLIED]: keeper.learn(applied) } : annotations;
};

const DOCKER_CONFIGS: ReadonlySet<string> = new Set(['.dockerconfigjson', '.dockercfg']);

/** Encodes a value as Secrets do, in base64. */
const hideValue = (key: string, encoded: string, keeper: SecretKeeper): string => {
  if (encoded === '') return encoded;
  const bytes = decodedBytes(encoded);
  if (!bytes) return padded(base64(keeper.learn(encoded)));
  const text = decodedText(bytes);
  if (text === undefined) return btoa(binaryText(keeper.learnBytes(bytes)));
  const hidden = DOCKER_CONFIGS.has(key) ? hideDockerConfig(text, keeper) : keeper.learn(text);
  keeper.learn(encoded);
  return padded(base64(hidden));
};

const hideToken = (request: Fields, keeper: SecretKeeper): Fields => {
  const { status } = request;
  if (!isFields(status) || typeof status['token'] !== 'string') return request;
  return { ...request, status: { ...status, token: keeper.learn(status['token']) } };
};

const decodedBytes = (text: string): Uint8Array | undefined => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
};

const decodedText = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

const padded = (text: string): string => text.padEnd(4 * Math.ceil(text.length / 4), '=');

const itemsOf = (list: Fields): readonly Fields[] =>
  Array.isArray(list['items']) ? list['items'].filter(isFields) : [];

/** Messages in a status may quote any text. */
const openPart = ({ metadata, spec }: Fields): Fields => ({ metadata, spec });

const uidOf = ({ metadata }: Fields): string => (isFields(metadata) ? String(metadata['uid']) : '');

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
