import { OrderedMap, Set as ImmutableSet } from 'immutable';
import { retainKeys, retainMembers } from '../values/retain.js';
import { updated } from '../values/updated.js';
import { isSamePodStatus } from './same-pod-status.js';
import type { PodStatus } from '../pod/pod.js';

export interface StoredStatus {
  readonly status: PodStatus;
  /** The number of changes of this pod's status, from 1. */
  readonly version: number;
  /** The pod has ended and its resources are cleaned up. */
  readonly isFinished: boolean;
}

/**
 * The newest status of every pod, from this node.
 *
 * Source: the cache side of pkg/kubelet/status/status_manager.go
 */
export interface PodStatuses {
  /** By UID. */
  readonly stored: OrderedMap<string, StoredStatus>;
  /** The UIDs of pods that start again, and have no new status yet. */
  readonly reborn: ImmutableSet<string>;
}

export const NO_STATUSES: PodStatuses = { stored: OrderedMap(), reborn: ImmutableSet() };

/** Stores `status`, under a new version if it differs from the one before in the fields of this agent. A finished pod stays finished. */
export const withStatus = (
  { stored, reborn }: PodStatuses,
  uid: string,
  status: PodStatus,
  ended = false,
): PodStatuses => {
  const before = stored.get(uid);
  const isFinished = ended || (before?.isFinished ?? false);
  const isNews = !before || before.isFinished !== isFinished || !isSamePodStatus(before.status, status);
  const version = (before?.version ?? 0) + (isNews ? 1 : 0);
  return { stored: stored.set(uid, { status, version, isFinished }), reborn: reborn.delete(uid) };
};

export const withoutStatus = (statuses: PodStatuses, uid: string): PodStatuses =>
  updated(statuses, { stored: statuses.stored.delete(uid) });

/**
 * Drops the status of an ended pod that is desired again under its UID: its old status, here and in its mirror pod, does not apply to
 * the new life.
 */
export const startedOver = ({ stored, reborn }: PodStatuses, uid: string): PodStatuses => ({
  stored: stored.delete(uid),
  reborn: reborn.add(uid),
});

/** Removes the statuses of pods that are not desired and have nothing running. Source: RemoveOrphanedStatuses */
export const retainStatuses = (statuses: PodStatuses, uids: ReadonlySet<string>): PodStatuses =>
  updated(statuses, {
    stored: retainKeys(statuses.stored, uids),
    reborn: retainMembers(statuses.reborn, uids),
  });

/** What can be asked about the statuses. */
export interface PodStatusesView {
  readonly get: (uid: string) => PodStatus | undefined;
  readonly stored: (uid: string) => StoredStatus | undefined;
  readonly uids: () => readonly string[];
  /** Whether the pod has no status since it started over. */
  readonly isReborn: (uid: string) => boolean;
}

/** Returns a view that shows the statuses as they are whenever it is asked. */
export const podStatusesView = (now: () => PodStatuses): PodStatusesView => ({
  get: (uid) => now().stored.get(uid)?.status,
  stored: (uid) => now().stored.get(uid),
  uids: () => [...now().stored.keys()],
  isReborn: (uid) => now().reborn.has(uid),
});
