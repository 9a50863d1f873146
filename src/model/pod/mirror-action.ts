import { isMirrorOf } from './mirror-pod.js';
import type { Pod } from './pod.js';

export interface MirrorState {
  /** The desired static pod of the full name. */
  readonly pod?: Pod | undefined;
  /** The API's pod of that name. */
  readonly mirror?: Pod | undefined;
  /**
   * The status of the mirror pod holds containers that have ended for good, but the pod was started again under its
   * UID.
   */
  readonly isOfFormerLife: boolean;
  /** A static pod of the name is terminating: this one or an earlier one. */
  readonly isTerminating: boolean;
  /** Every source has delivered its pods. Before that, an absent pod may still come. */
  readonly areSourcesReady: boolean;
  /** The Node exists; it owns mirror pods. */
  readonly isNodeKnown: boolean;
}

/** The action for the mirror pod of one full name; `replace` deletes it and creates it again. */
export type MirrorAction = 'none' | 'create' | 'replace' | 'remove';

/**
 * Decides how the API's mirror pod follows the static pod. Every desired static pod has an up-to-date mirror pod; all
 * other mirror pods are deleted. The mirror pod of a terminating pod stays.
 *
 * Source: pkg/kubelet/kubelet.go tryReconcileMirrorPods, pkg/kubelet/kubelet_pods.go HandlePodCleanups
 */
export const mirrorAction = ({
  pod,
  mirror,
  isOfFormerLife,
  isTerminating,
  areSourcesReady,
  isNodeKnown,
}: MirrorState): MirrorAction => {
  if (isTerminating) return 'none';
  if (!pod) return mirror && areSourcesReady ? 'remove' : 'none';
  if (!mirror) return isNodeKnown ? 'create' : 'none';
  if (!isOfFormerLife && mirror.metadata.deletionTimestamp === undefined && isMirrorOf(mirror, pod)) return 'none';
  return isNodeKnown ? 'replace' : 'remove';
};
