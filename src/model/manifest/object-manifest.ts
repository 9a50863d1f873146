import type { SourceObject } from '../references/source-object.js';

/** A ConfigMap or a Secret of a manifest and its position in the text, counted from 1. */
export interface ManifestObject {
  readonly object: SourceObject;
  readonly document: number;
  readonly line: number;
  readonly column: number;
}

/** The kinds of objects that manifests may hold beside pods. */
export const OBJECT_KINDS = ['ConfigMap', 'Secret'] as const;

export type ObjectKind = (typeof OBJECT_KINDS)[number];

export const isObjectKind = (kind: unknown): kind is ObjectKind => kind === OBJECT_KINDS[0] || kind === OBJECT_KINDS[1];
