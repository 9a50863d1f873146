import type { PodManifest } from '../../../model/manifest/pod-manifest.js';
import type { LatencyRange } from '../world/behaviour.js';

/** An action of a user of the API. An action that fails, such as while the server is away, is tried again. */
export type ClusterChange = { readonly atMs: number } & (
  | { readonly kind: 'create'; readonly pod: PodManifest }
  /** A JSON merge patch of the pod of that name; does nothing if there is none. */
  | { readonly kind: 'patch' | 'patch-status'; readonly pod: string; readonly patch: object }
  /** `graceSeconds`: of the user's request; that of the pod by default. */
  | { readonly kind: 'delete'; readonly pod: string; readonly graceSeconds?: number }
  /** The Node object is deleted, as when an administrator removes the node from the cluster; its agent comes back. */
  | { readonly kind: 'delete-node' }
);

/** The actions on an API server in a history, and its settings. Plain JSON. */
export interface ClusterPlan {
  /** In the order of time. */
  readonly changes: readonly ClusterChange[];
  /** The round trip of a request. */
  readonly latencyMs: LatencyRange;
  /** The delay of the cache that answers lists of any version. */
  readonly cacheLagMs: LatencyRange;
  /** The number of changes that are kept for watches that begin in the past. */
  readonly keptChanges: number;
}
