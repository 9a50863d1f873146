import type { V1ObjectMeta } from '@kubernetes/client-node';
import type { Json, PodSpec } from '../pod/pod.js';

/** A pod of a manifest with the API's defaults: it has a name, but no node yet. */
export interface PodManifest {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: Json<V1ObjectMeta> & { readonly name: string };
  readonly spec: PodSpec;
}

/** A pod of a manifest and its position in the text, counted from 1. */
export interface ManifestPod {
  readonly pod: PodManifest;
  readonly document: number;
  readonly line: number;
  readonly column: number;
  /** The result of `podContentHash`. */
  readonly contentHash: string;
}
