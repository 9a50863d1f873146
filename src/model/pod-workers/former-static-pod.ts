import type { Pod, PodRef } from '../pod/pod.js';

/**
 * Whether a pod of the runtime may be the static pod before an edit of its namespace, or before the node got another name: it has the
 * same name in a manifest, but not the same full name. The former name of the node is unknown, so any name that the node does not
 * have now counts as that. The source of the pod decides as well, see `stopPreviousRevision`.
 */
export const mayBeFormer = ({ metadata, spec }: Pod, other: Pick<PodRef, 'name' | 'namespace'>): boolean => {
  const { name, namespace } = metadata;
  if (other.name === name) return other.namespace !== namespace;
  const suffix = `-${(spec.nodeName ?? '').toLowerCase()}`;
  if (suffix === '-' || !name.endsWith(suffix)) return false;
  return other.name.startsWith(name.slice(0, 1 - suffix.length)) && !other.name.endsWith(suffix);
};
