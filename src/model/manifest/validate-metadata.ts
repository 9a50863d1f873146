import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkText, DNS_LABEL, DNS_SUBDOMAIN, isQualifiedName, LABEL_VALUE, POD_UID, QUALIFIED_NAME } from './names.js';
import type { PodManifest } from './pod-manifest.js';

const ANNOTATION_BYTES = 256 * 1024;

/** Source: staging/src/k8s.io/apimachinery/pkg/api/validation/objectmeta.go. */
export function* validateMetadata(metadata: PodManifest['metadata'], path: FieldPath): Generator<FieldIssue> {
  yield* checkText(metadata.name, DNS_SUBDOMAIN, [...path, 'name']);
  if (metadata.namespace) yield* checkText(metadata.namespace, DNS_LABEL, [...path, 'namespace']);
  if (metadata.uid) yield* checkText(metadata.uid, POD_UID, [...path, 'uid']);
  yield* validateLabels(metadata.labels ?? {}, [...path, 'labels']);
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

export function* validateLabels(labels: Readonly<Record<string, string>>, path: FieldPath): Generator<FieldIssue> {
  for (const [key, value] of Object.entries(labels)) {
    if (!isQualifiedName(key)) {
      yield { ...issue([...path, key], 'is not a valid label key', QUALIFIED_NAME), atKey: true };
    }
    yield* checkText(value, LABEL_VALUE, [...path, key]);
  }
}
