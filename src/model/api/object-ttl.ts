/** By it the control plane tells nodes of a large cluster for how many seconds objects may be believed. */
const TTL_ANNOTATION = 'node.alpha.kubernetes.io/ttl';

/**
 * How long the node object says that what was read may be believed; undefined where it does not say it.
 *
 * Source: pkg/kubelet/util/manager/cache_based_manager.go GetObjectTTLFromNodeFunc
 */
export const objectTtlMs = (annotations: Readonly<Record<string, string>> = {}): number | undefined => {
  const text = annotations[TTL_ANNOTATION];
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) * 1_000 : undefined;
};
