import { type Pod, podSourceOf, type PodRef } from '../pod/pod.js';

/** A pod with a ready sandbox, as the runtime shows it. */
export interface ReadyPod extends PodRef {
  /** The source that the pod came from, of the sandbox's annotations. */
  readonly source?: string | undefined;
}

/** Whether both have one full name: only one of them may run. */
export const hasSameFullName = ({ metadata }: Pod, { name, namespace }: ReadyPod): boolean =>
  name === metadata.name && namespace === metadata.namespace;

/**
 * Whether a pod that no source wants may be the one of the manifest before an edit of its namespace, or before the node got another
 * name: it came from the same source, and has the same name in a manifest. The new pod needs the ports and volumes of the former one.
 * The former name of the node is unknown, so any name that the node does not have now counts as that.
 */
export const mayBeFormer = (pod: Pod, other: ReadyPod): boolean => {
  if (other.source === undefined || other.source !== podSourceOf(pod)) return false;
  const { name } = pod.metadata;
  if (other.name === name) return true;
  const suffix = `-${(pod.spec.nodeName ?? '').toLowerCase()}`;
  if (suffix === '-' || !name.endsWith(suffix)) return false;
  return other.name.startsWith(name.slice(0, 1 - suffix.length)) && !other.name.endsWith(suffix);
};
