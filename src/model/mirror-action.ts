import { isMirrorOf } from './mirror-pod.js';
import type { Pod } from './pod.js';

export interface MirrorState {
  /** The static pod of the full name that the sources want. */
  readonly pod?: Pod | undefined;
  /** What the API has under that name. */
  readonly mirror?: Pod | undefined;
  /** A static pod of the name is on its way out, this one or the one before it. */
  readonly isTerminating: boolean;
  /** A pod that is not there may be one of a source that has not been heard yet. */
  readonly areSourcesReady: boolean;
  /** Mirrors belong to the node, so it has to be there. */
  readonly isNodeKnown: boolean;
}

/** What to do about the mirror of one full name; `replace` removes it and makes it anew. */
export type MirrorAction = 'none' | 'create' | 'replace' | 'remove';

/**
 * Every static pod that is wanted has a mirror in the API that says what it is; no other mirror stays. While the pod is on its way out
 * its mirror shows that.
 *
 * Source: pkg/kubelet/kubelet.go tryReconcileMirrorPods, pkg/kubelet/kubelet_pods.go HandlePodCleanups
 */
export const mirrorAction = ({
  pod,
  mirror,
  isTerminating,
  areSourcesReady,
  isNodeKnown,
}: MirrorState): MirrorAction => {
  if (isTerminating) return 'none';
  if (!pod) return mirror && areSourcesReady ? 'remove' : 'none';
  if (!mirror) return isNodeKnown ? 'create' : 'none';
  if (mirror.metadata.deletionTimestamp === undefined && isMirrorOf(mirror, pod)) return 'none';
  return isNodeKnown ? 'replace' : 'remove';
};
