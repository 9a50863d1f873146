import type { V1DownwardAPIVolumeFile, V1KeyToPath, V1VolumeProjection } from '@kubernetes/client-node';
import type { Json } from '../pod/pod.js';
import { parseQuantity } from '../resources/quantity.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkLocalPath, checkOneOf, checkRange, checkText, checkUnique, DNS_LABEL } from './names.js';
import { validateFieldRef, validateResourceFieldRef } from './validate-env.js';
import { validateNetworkVolume } from './validate-network-volumes.js';
import type { Volume } from './volume-defaults.js';

const FILE_MODES = [0, 0o777] as const;
const HOST_PATH_TYPES = [
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
];

/** Source: pkg/apis/core/validation/validation.go ValidateVolumes. */
export function* validateVolumes(volumes: readonly Volume[], path: FieldPath): Generator<FieldIssue> {
  yield* checkUnique(
    volumes.map(({ name }, index) => ({ key: name, path: [...path, index, 'name'] })),
    'name',
  );
  for (const [index, volume] of volumes.entries()) yield* validateVolume(volume, [...path, index]);
}

function* validateVolume(volume: Volume, path: FieldPath): Generator<FieldIssue> {
  yield* checkText(volume.name, DNS_LABEL, [...path, 'name']);
  const [, second] = Object.keys(volume).filter((field) => field !== 'name');
  if (second !== undefined) {
    yield { ...issue([...path, second], 'is a second kind of volume', 'one kind in each volume'), atKey: true };
  }
  const { hostPath, emptyDir, secret, configMap, downwardAPI, projected, image, persistentVolumeClaim, nfs } = volume;
  if (hostPath) yield* validateHostPath(hostPath, [...path, 'hostPath']);
  if (emptyDir) yield* validateEmptyDir(emptyDir, [...path, 'emptyDir']);
  if (secret) {
    const at = [...path, 'secret'];
    if (!secret.secretName) yield issue([...at, 'secretName'], 'is missing', 'the name of a secret');
    yield* validateFiles(secret, at);
  }
  if (configMap) {
    const at = [...path, 'configMap'];
    if (!configMap.name) yield issue([...at, 'name'], 'is missing', 'the name of a config map');
    yield* validateFiles(configMap, at);
  }
  if (downwardAPI) {
    yield* checkRange(downwardAPI.defaultMode, FILE_MODES, [...path, 'downwardAPI', 'defaultMode']);
    yield* validateDownwardFiles(downwardAPI.items ?? [], [...path, 'downwardAPI', 'items']);
  }
  if (projected) {
    yield* checkRange(projected.defaultMode, FILE_MODES, [...path, 'projected', 'defaultMode']);
    yield* validateProjections(projected.sources ?? [], [...path, 'projected', 'sources']);
  }
  if (image) {
    yield* checkOneOf(image.pullPolicy, ['Always', 'IfNotPresent', 'Never'], [...path, 'image', 'pullPolicy']);
  }
  if (persistentVolumeClaim && !persistentVolumeClaim.claimName) {
    yield issue([...path, 'persistentVolumeClaim', 'claimName'], 'is empty', 'the name of a claim');
  }
  yield* validateNetworkVolume(volume, path);
  if (nfs && !nfs.path.startsWith('/')) {
    yield issue([...path, 'nfs', 'path'], `is ${JSON.stringify(nfs.path)}`, 'an absolute path');
  }
}

function* validateHostPath(hostPath: NonNullable<Volume['hostPath']>, path: FieldPath): Generator<FieldIssue> {
  const at = [...path, 'path'];
  if (hostPath.path === '') yield issue(at, 'is empty', 'a path of the node');
  if (hostPath.path.split('/').includes('..')) {
    yield issue(at, `is ${JSON.stringify(hostPath.path)}`, 'a path without ".."');
  }
  yield* checkOneOf(hostPath.type, HOST_PATH_TYPES, [...path, 'type']);
}

function* validateEmptyDir(
  { medium, sizeLimit }: NonNullable<Volume['emptyDir']>,
  path: FieldPath,
): Generator<FieldIssue> {
  if (medium && medium !== 'Memory' && !/^HugePages(-.+)?$/.test(medium)) {
    yield issue([...path, 'medium'], `is ${JSON.stringify(medium)}`, '"", Memory, HugePages or HugePages-<size>');
  }
  if (sizeLimit !== undefined && (parseQuantity(sizeLimit) ?? 0n) < 0n) {
    yield issue([...path, 'sizeLimit'], `is ${sizeLimit}`, '0 or more');
  }
}

function* validateFiles(
  { defaultMode, items = [] }: { readonly defaultMode?: number; readonly items?: readonly Json<V1KeyToPath>[] },
  path: FieldPath,
): Generator<FieldIssue> {
  yield* checkRange(defaultMode, FILE_MODES, [...path, 'defaultMode']);
  for (const [index, { key, path: file, mode }] of items.entries()) {
    const at = [...path, 'items', index];
    if (!key) yield issue([...at, 'key'], 'is empty', 'the name of a key');
    yield* checkFile(file, mode, at);
  }
}

function* validateDownwardFiles(
  items: readonly Json<V1DownwardAPIVolumeFile>[],
  path: FieldPath,
): Generator<FieldIssue> {
  for (const [index, { path: file, mode, fieldRef, resourceFieldRef }] of items.entries()) {
    const at = [...path, index];
    yield* checkFile(file, mode, at);
    if (fieldRef && resourceFieldRef) {
      yield issue([...at, 'resourceFieldRef'], 'is set beside fieldRef', 'only one of the two');
    } else if (fieldRef) yield* validateFieldRef(fieldRef, 'volume', [...at, 'fieldRef']);
    else if (resourceFieldRef) {
      yield* validateResourceFieldRef(resourceFieldRef, 'volume', [...at, 'resourceFieldRef']);
    } else yield issue(at, 'has no source', 'fieldRef or resourceFieldRef');
  }
}

function* checkFile(file: string, mode: number | undefined, path: FieldPath): Generator<FieldIssue> {
  yield* checkLocalPath(file, [...path, 'path']);
  yield* checkRange(mode, FILE_MODES, [...path, 'mode']);
}

function* validateProjections(sources: readonly Json<V1VolumeProjection>[], path: FieldPath): Generator<FieldIssue> {
  const files: { readonly key: string; readonly path: FieldPath }[] = [];
  for (const [index, source] of sources.entries()) {
    const at = [...path, index];
    const [first, second] = Object.keys(source);
    if (first === undefined)
      yield issue(at, 'names no source', 'secret, configMap, downwardAPI or serviceAccountToken');
    if (second !== undefined) {
      yield { ...issue([...at, second], 'is a second kind of source', 'one kind in each'), atKey: true };
    }
    for (const kind of ['secret', 'configMap'] as const) {
      const named = source[kind];
      if (!named) continue;
      if (!named.name) yield issue([...at, kind, 'name'], 'is missing', `the name of a ${kind}`);
      yield* validateFiles(named, [...at, kind]);
      for (const [item, { path: key }] of (named.items ?? []).entries()) {
        files.push({ key, path: [...at, kind, 'items', item, 'path'] });
      }
    }
    if (source.downwardAPI) {
      yield* validateDownwardFiles(source.downwardAPI.items ?? [], [...at, 'downwardAPI', 'items']);
      for (const [item, { path: key }] of (source.downwardAPI.items ?? []).entries()) {
        files.push({ key, path: [...at, 'downwardAPI', 'items', item, 'path'] });
      }
    }
    const token = source.serviceAccountToken;
    if (token) {
      const where = [...at, 'serviceAccountToken'];
      yield* checkFile(token.path, undefined, where);
      yield* checkRange(token.expirationSeconds, [600, 2 ** 32], [...where, 'expirationSeconds']);
      files.push({ key: token.path, path: [...where, 'path'] });
    }
  }
  yield* checkUnique(files, 'path');
}
