import type { PodManifest } from '../../model/manifest/pod-manifest.js';
import type { LatencyRange } from '../behaviour.js';

/** Something that a user of the API does. What cannot be done right now, such as while the server is away, is tried again. */
export type ClusterChange = { readonly atMs: number } & (
  | { readonly kind: 'create'; readonly pod: PodManifest }
  /** A JSON merge patch of the pod of that name; nothing if there is none. */
  | { readonly kind: 'patch' | 'patch-status'; readonly pod: string; readonly patch: object }
  /** `graceSeconds`: as the user has it; that of the pod unless given. */
  | { readonly kind: 'delete'; readonly pod: string; readonly graceSeconds?: number }
  /** The Node object goes, as when somebody takes the node out of the cluster; its agent comes back. */
  | { readonly kind: 'delete-node' }
);

/** What an API server has to say in a history, and how it is. Plain JSON. */
export interface ClusterPlan {
  /** In the order of time. */
  readonly changes: readonly ClusterChange[];
  /** A request, there and back. */
  readonly latencyMs: LatencyRange;
  /** So far behind may be what a list of any version is answered from. */
  readonly cacheLagMs: LatencyRange;
  /** So many changes are kept for watches that begin in the past. */
  readonly keptChanges: number;
}
