import { isMirrorOf } from './mirror-pod.js';
import { isStaticPod, type Pod, podFullName } from './pod.js';

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

/** Returns the full names of the static pods among the desired pods and of all mirror pods, each once. */
export const mirrorNames = (desired: readonly Pod[], mirrors: readonly Pod[]): ReadonlySet<string> =>
  new Set([...desired.filter(isStaticPod), ...mirrors].map(podFullName));

/** The attempts to reconcile the mirror pod of one full name. */
export interface MirrorAttempt {
  /** Failures in a row. */
  readonly failures?: number;
  /** The time of the next attempt at the earliest, in the scheduler's milliseconds. */
  readonly notBefore?: number;
  /** The UID of a removed mirror pod, which the watch may still show. */
  readonly removedUid?: string;
}

export const NO_ATTEMPT: MirrorAttempt = {};

/** Returns the attempt after the API has deleted a mirror pod; the watch may still show it. */
export const mirrorRemoved = (attempt: MirrorAttempt, removedUid: string): MirrorAttempt => ({
  ...attempt,
  removedUid,
});

/** Returns the attempt after the API has created a mirror pod, which the watch shows by `notBefore`. Failures no longer count. */
export const mirrorCreated = ({ removedUid }: MirrorAttempt, notBefore: number): MirrorAttempt => ({
  ...(removedUid !== undefined && { removedUid }),
  notBefore,
});

export const isAttemptDue = ({ notBefore }: MirrorAttempt, now: number): boolean =>
  notBefore === undefined || now >= notBefore;

/** Returns the mirror pod as the agent takes it: a removed one is none, although the watch still shows it. */
export const presentMirror = (seen: Pod | undefined, { removedUid }: MirrorAttempt): Pod | undefined =>
  seen?.metadata.uid === removedUid ? undefined : seen;
