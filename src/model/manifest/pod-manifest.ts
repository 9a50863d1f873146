import type { V1ObjectMeta } from '@kubernetes/client-node';
import type { Json, PodSpec } from '../pod.js';

/** A pod as a manifest has it, defaulted as the API would: named, but not yet placed on a node. */
export interface PodManifest {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: Json<V1ObjectMeta> & { readonly name: string };
  readonly spec: PodSpec;
}

/** A pod of a manifest and where it stands there. Positions count from 1. */
export interface ManifestPod {
  readonly pod: PodManifest;
  readonly document: number;
  readonly line: number;
  readonly column: number;
}
