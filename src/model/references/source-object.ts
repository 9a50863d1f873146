import type { ConfigMap, Secret } from './referenced-object.js';

interface Named {
  readonly apiVersion: 'v1';
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
}

/**
 * A ConfigMap or a Secret of a source of pods, for the pods of this source. It holds no more than pods use: no labels and no
 * annotations, which may quote an earlier version.
 */
export type SourceObject =
  | (Omit<ConfigMap, keyof Named | 'kind'> & Named & { readonly kind: 'ConfigMap' })
  | (Omit<Secret, keyof Named | 'kind'> & Named & { readonly kind: 'Secret' });

/** Returns `ConfigMap default/settings`, which is different for every object of a source. */
export const sourceObjectKey = ({ kind, metadata }: SourceObject): string =>
  `${kind} ${metadata.namespace}/${metadata.name}`;
