import type { V1Toleration } from '@kubernetes/client-node';
import { fnv1a128Hex } from '../values/fnv.js';
import { CONFIG_HASH_ANNOTATION, type Json, type Pod } from '../pod/pod.js';
import type { PodManifest } from './pod-manifest.js';

export interface SourceOfManifest {
  readonly source: 'file' | 'http';
  readonly nodeName: string;
  /** The path of the file, or the URL. */
  readonly origin: string;
}

/**
 * Returns the pod as its source delivers it: with a node, with the node in its name, with a UID. A pod without a UID
 * gets one that depends on all of its fields and on its origin, so that an edited pod is another pod. The hash of the fields takes a
 * long time for a large pod, so the reader of the manifest, which may be another thread, can compute it.
 *
 * Source: pkg/kubelet/config/common.go applyDefaults.
 */
export const applySourceDefaults = (
  pod: PodManifest,
  { source, nodeName, origin }: SourceOfManifest,
  contentHash = podContentHash(pod),
): Pod => {
  const place = source === 'file' ? `host:${nodeName}file:${origin}` : `url:${origin}`;
  const uid = pod.metadata.uid || fnv1a128Hex(place, BigInt(`0x${contentHash}`));
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

/** The hash of all fields of a pod, 32 hex digits: equal for equal pods. */
export const podContentHash = (pod: PodManifest): string => fnv1a128Hex(stableJson(pod));

/** Returns the name in the API of the pod `name` of a manifest. */
const staticPodName = (name: string, nodeName: string): string => `${name}-${nodeName.toLowerCase()}`;

/** The taints of its node do not evict a pod of a file. */
const withNoExecute = (tolerations: readonly Json<V1Toleration>[]): readonly Json<V1Toleration>[] => [
  ...tolerations.filter((toleration) => !isNoExecute(toleration)),
  { operator: 'Exists', effect: 'NoExecute' },
];

const isNoExecute = ({ key, operator, effect, value }: Json<V1Toleration>): boolean =>
  !key && operator === 'Exists' && effect === 'NoExecute' && !value;

/** Returns the same text for equal values, in any order of their keys. */
const stableJson = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)))
      : item,
  );
