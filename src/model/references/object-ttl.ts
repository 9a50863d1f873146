/**
 * The annotation by which the control plane sets, in a large cluster, the number of seconds for which nodes may cache
 * objects.
 */
const TTL_ANNOTATION = 'node.alpha.kubernetes.io/ttl';

/**
 * Returns the time for which the Node allows objects to be cached; undefined if it does not state it.
 *
 * Source: pkg/kubelet/util/manager/cache_based_manager.go GetObjectTTLFromNodeFunc
 */
export const objectTtlMs = (annotations: Readonly<Record<string, string>> = {}): number | undefined => {
  const text = annotations[TTL_ANNOTATION];
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) * 1_000 : undefined;
};
