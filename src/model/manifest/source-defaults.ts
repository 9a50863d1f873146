import type { V1Toleration } from '@kubernetes/client-node';
import { fnv1a128Hex } from '../fnv.js';
import { CONFIG_HASH_ANNOTATION, type Json, type Pod } from '../pod.js';
import type { PodManifest } from './pod-manifest.js';

export interface SourceOfManifest {
  readonly source: 'file' | 'http';
  readonly nodeName: string;
  /** Path of the file, or URL. */
  readonly origin: string;
}

/**
 * The pod as its source delivers it: placed on the node, named after it, with an identity. Without a UID of its own a pod
 * gets one that changes with any of its fields and with where it comes from, so that an edited pod is another pod.
 *
 * Source: pkg/kubelet/config/common.go applyDefaults.
 */
export const applySourceDefaults = (pod: PodManifest, { source, nodeName, origin }: SourceOfManifest): Pod => {
  const place = source === 'file' ? `host:${nodeName}file:${origin}` : `url:${origin}`;
  const uid = pod.metadata.uid || fnv1a128Hex(stableJson(pod) + place);
  const tolerations = source === 'file' ? withNoExecute(pod.spec.tolerations ?? []) : pod.spec.tolerations;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      uid,
      name: staticPodName(pod.metadata.name, nodeName),
      namespace: pod.metadata.namespace || 'default',
      annotations: { ...pod.metadata.annotations, [CONFIG_HASH_ANNOTATION]: uid },
    },
    spec: { ...pod.spec, nodeName, ...(tolerations && { tolerations }) },
    status: { phase: 'Pending' },
  };
};

/** The name in the API of a pod that a manifest calls `name`. */
export const staticPodName = (name: string, nodeName: string): string => `${name}-${nodeName.toLowerCase()}`;

/** A pod of a file stays whatever taints its node gets. */
const withNoExecute = (tolerations: readonly Json<V1Toleration>[]): readonly Json<V1Toleration>[] => [
  ...tolerations.filter((toleration) => !isNoExecute(toleration)),
  { operator: 'Exists', effect: 'NoExecute' },
];

const isNoExecute = ({ key, operator, effect, value }: Json<V1Toleration>): boolean =>
  !key && operator === 'Exists' && effect === 'NoExecute' && !value;

/** The same text for equal values, whatever the order of their keys. */
const stableJson = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)))
      : item,
  );
