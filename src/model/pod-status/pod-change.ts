import { isSamePodStatus } from './same-pod-status.js';
import type { Pod } from '../pod/pod.js';

/** A change of one pod that the sources of the node want. Each pod has its newest status, as this node sees it. */
export type PodChange =
  | { readonly kind: 'added'; readonly pod: Pod }
  | { readonly kind: 'changed'; readonly pod: Pod; readonly before: Pod }
  /** No source wants the pod any more. `pod` is what it was. */
  | { readonly kind: 'removed'; readonly pod: Pod };

/** Returns what became of a pod; undefined if it is the same. Pods that share their spec, metadata and status are the same. */
export const podChange = (before: Pod | undefined, after: Pod | undefined): PodChange | undefined => {
  if (!after) return before && { kind: 'removed', pod: before };
  if (!before) return { kind: 'added', pod: after };
  return isSamePod(before, after) ? undefined : { kind: 'changed', pod: after, before };
};

const isSamePod = (one: Pod, other: Pod): boolean =>
  one === other ||
  (one.spec === other.spec &&
    one.metadata === other.metadata &&
    (one.status === other.status ||
      (one.status !== undefined && other.status !== undefined && isSamePodStatus(one.status, other.status))));
