import type { V1ConfigMap, V1ObjectMeta, V1Secret } from '@kubernetes/client-node';
import type { Json } from '../pod/pod.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkText, DNS_SUBDOMAIN, type TextRule } from './names.js';
import { validateMetadata } from './validate-metadata.js';

/** Objects of a manifest with the API's defaults. */
export type ConfigMapManifest = Json<V1ConfigMap> & { readonly metadata: NamedMeta };
export type SecretManifest = Json<V1Secret> & { readonly metadata: NamedMeta; readonly type: string };
type NamedMeta = Json<V1ObjectMeta> & { readonly name: string };

/** Source: pkg/apis/core/types.go MaxSecretSize. */
const MOST_BYTES = 1024 * 1024;

/** A key becomes the name of a file. Source: staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go IsConfigMapKey. */
const OBJECT_KEY: TextRule = {
  pattern: /^(?!\.{1,2}$)(?!\.\.)[-._a-zA-Z0-9]+$/,
  maxLength: 253,
  expected: 'at most 253 letters, digits, "-", "_" and ".", not "." and not beginning with ".."',
};

/** Source: pkg/apis/core/validation/validation.go ValidateConfigMap. */
export function* validateConfigMap(
  { metadata, data = {}, binaryData = {} }: ConfigMapManifest,
  path: FieldPath,
): Generator<FieldIssue> {
  yield* validateMetadata(metadata, [...path, 'metadata'], DNS_SUBDOMAIN);
  yield* checkKeys(data, [...path, 'data']);
  yield* checkKeys(binaryData, [...path, 'binaryData']);
  for (const key of Object.keys(binaryData)) {
    if (Object.hasOwn(data, key)) {
      yield { ...issue([...path, 'binaryData', key], 'is also a key of data', 'each key once'), atKey: true };
    }
  }
  yield* checkSize([...Object.values(data).map(utf8Length), ...Object.values(binaryData).map(decodedLength)], path);
}

/** `data` holds `stringData` as well. Source: pkg/apis/core/validation/validation.go ValidateSecret. */
export function* validateSecret(
  { metadata, data = {}, type }: SecretManifest,
  path: FieldPath,
  fieldOf: (key: string) => string,
): Generator<FieldIssue> {
  yield* validateMetadata(metadata, [...path, 'metadata'], DNS_SUBDOMAIN);
  for (const [key, value] of Object.entries(data)) yield* checkKeys({ [key]: value }, [...path, fieldOf(key)]);
  yield* checkSize(Object.values(data).map(decodedLength), path);
  if (Object.hasOwn(TYPES, type)) yield* TYPES[type]!({ metadata, data }, path, fieldOf);
}

type TypeRule = (
  secret: { readonly metadata: NamedMeta; readonly data: Readonly<Record<string, string>> },
  path: FieldPath,
  fieldOf: (key: string) => string,
) => Generator<FieldIssue>;

/** The keys that a type of Secret needs. */
const TYPES: Readonly<Record<string, TypeRule>> = {
  *'kubernetes.io/service-account-token'({ metadata }, path) {
    const name = 'kubernetes.io/service-account.name';
    if (metadata.annotations?.[name]) return;
    yield issue([...path, 'metadata', 'annotations', name], 'is missing', 'the name of a service account');
  },
  'kubernetes.io/dockercfg': dockerConfig('.dockercfg'),
  'kubernetes.io/dockerconfigjson': dockerConfig('.dockerconfigjson'),
  *'kubernetes.io/basic-auth'({ data }, path) {
    if ('username' in data || 'password' in data) return;
    yield issue([...path, 'data', 'username'], 'is missing', 'username, password or both');
  },
  *'kubernetes.io/ssh-auth'({ data }, path) {
    if (data['ssh-privatekey']) return;
    yield issue([...path, 'data', 'ssh-privatekey'], 'is missing', 'a private key');
  },
  *'kubernetes.io/tls'({ data }, path) {
    for (const key of ['tls.crt', 'tls.key']) {
      if (!(key in data)) yield issue([...path, 'data', key], 'is missing', 'a certificate and its key');
    }
  },
};

function dockerConfig(key: string): TypeRule {
  return function* ({ data }, path, fieldOf) {
    const text = data[key];
    if (text === undefined) yield issue([...path, 'data', key], 'is missing', 'logins of registries in JSON');
    else if (!isJson(text)) yield issue([...path, fieldOf(key), key], 'is not JSON', 'logins of registries in JSON');
  };
}

const isJson = (encoded: string): boolean => {
  try {
    JSON.parse(Buffer.from(encoded, 'base64').toString());
    return true;
  } catch {
    return false;
  }
};

function* checkKeys(data: Readonly<Record<string, string>>, path: FieldPath): Generator<FieldIssue> {
  for (const key of Object.keys(data)) {
    for (const found of checkText(key, OBJECT_KEY, [...path, key])) yield { ...found, atKey: true };
  }
}

function* checkSize(lengths: readonly number[], path: FieldPath): Generator<FieldIssue> {
  const bytes = lengths.reduce((sum, length) => sum + length, 0);
  if (bytes > MOST_BYTES) yield issue([...path, 'data'], `holds ${bytes} bytes`, `at most ${MOST_BYTES} bytes`);
}

const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

/** The number of bytes of a base64 text without line breaks. */
const decodedLength = (text: string): number => (text.length / 4) * 3 - (/=*$/.exec(text)?.[0].length ?? 0);
