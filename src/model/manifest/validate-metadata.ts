import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import {
  checkText,
  DNS_LABEL,
  DNS_SUBDOMAIN,
  isQualifiedName,
  LABEL_VALUE,
  POD_UID,
  QUALIFIED_NAME,
  STATIC_POD_NAME,
  type TextRule,
} from './names.js';
import type { PodManifest } from './pod-manifest.js';

/** The limit for the keys and values of all annotations of an object. Source: TotalAnnotationSizeLimitB in the file below. */
export const ANNOTATION_BYTES = 256 * 1024;

/** Source: staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go. */
export function* validateMetadata(
  metadata: PodManifest['metadata'],
  path: FieldPath,
  nameRule: TextRule = STATIC_POD_NAME,
): Generator<FieldIssue> {
  yield* checkText(metadata.name, nameRule, [...path, 'name']);
  if (metadata.namespace) yield* checkText(metadata.namespace, DNS_LABEL, [...path, 'namespace']);
  if (metadata.uid) yield* checkText(metadata.uid, POD_UID, [...path, 'uid']);
  yield* validateLabels(metadata.labels ?? {}, [...path, 'labels']);
  yield* validateStored(metadata, path);
  let bytes = 0;
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    bytes += new TextEncoder().encode(key + value).length;
    if (!isQualifiedName(key.toLowerCase())) {
      yield { ...issue([...path, 'annotations', key], 'is not a valid annotation key', QUALIFIED_NAME), atKey: true };
    }
  }
  if (bytes > ANNOTATION_BYTES) {
    yield issue([...path, 'annotations'], `hold ${bytes} bytes`, `at most ${ANNOTATION_BYTES} bytes`);
  }
}

const KUBERNETES_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** Validates fields that have a meaning only once the mirror pod is in the API. */
function* validateStored(metadata: PodManifest['metadata'], path: FieldPath): Generator<FieldIssue> {
  const { generateName, generation, finalizers = [], ownerReferences = [] } = metadata;
  if (generateName) {
    // A generated suffix replaces the last "-" and the characters before it.
    const name = generateName.length > 1 && generateName.endsWith('-') ? `${generateName.slice(0, -2)}a` : generateName;
    yield* checkText(name, DNS_SUBDOMAIN, [...path, 'generateName']);
  }
  if (generation !== undefined && generation < 0) yield issue([...path, 'generation'], `is ${generation}`, '0 or more');
  for (const [index, name] of finalizers.entries()) {
    if (KUBERNETES_FINALIZERS.includes(name) || (name.includes('/') && isQualifiedName(name))) continue;
    yield issue([...path, 'finalizers', index], `is ${JSON.stringify(name)}`, 'a name such as example.com/name');
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    yield issue([...path, 'finalizers'], 'has both orphan and foregroundDeletion', 'only one of the two');
  }
  for (const [index, owner] of ownerReferences.entries()) {
    const at = [...path, 'ownerReferences', index];
    for (const field of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if (owner[field] === '') yield issue([...at, field], 'is empty', 'a value');
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') yield issue([...at, 'kind'], 'is Event', 'another owner');
  }
  const second = ownerReferences.flatMap(({ controller }, index) => (controller ? [index] : []))[1];
  if (second !== undefined) {
    yield issue([...path, 'ownerReferences', second, 'controller'], 'is true a second time', 'one controller');
  }
}

export function* validateLabels(labels: Readonly<Record<string, string>>, path: FieldPath): Generator<FieldIssue> {
  for (const [key, value] of Object.entries(labels)) {
    if (!isQualifiedName(key)) {
      yield { ...issue([...path, key], 'is not a valid label key', QUALIFIED_NAME), atKey: true };
    }
    yield* checkText(value, LABEL_VALUE, [...path, key]);
  }
}
