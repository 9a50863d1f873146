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
export class PodStatusStore {
  readonly #statuses = new Map<string, StoredStatus>();
  /** Pods that start again under their UID, and have no new status yet. */
  readonly #reborn = new Set<string>();

  get(uid: string): PodStatus | undefined {
    return this.#statuses.get(uid)?.status;
  }

  stored(uid: string): StoredStatus | undefined {
    return this.#statuses.get(uid);
  }

  uids(): readonly string[] {
    return [...this.#statuses.keys()];
  }

  /**
   * Stores `status` and returns whether it differs from the one before in the fields of this agent. A finished pod
   * stays finished.
   */
  set(uid: string, status: PodStatus, isFinished = false): boolean {
    this.#reborn.delete(uid);
    const before = this.#statuses.get(uid);
    const finished = isFinished || (before?.isFinished ?? false);
    const isNews = !before || before.isFinished !== finished || !isSamePodStatus(before.status, status);
    this.#statuses.set(uid, {
      status,
      version: (before?.version ?? 0) + (isNews ? 1 : 0),
      isFinished: finished,
    });
    return isNews;
  }

  forget(uid: string): void {
    this.#statuses.delete(uid);
  }

  /**
   * Drops the status of an ended pod that is desired again under its UID: its old status, here and in its mirror pod,
   * does not apply to the new life.
   */
  startOver(uid: string): void {
    this.#statuses.delete(uid);
    this.#reborn.add(uid);
  }

  /** Whether the pod has no status since it started over. */
  isReborn(uid: string): boolean {
    return this.#reborn.has(uid);
  }

  /** Removes the statuses of pods that are not desired and have nothing running. Source: RemoveOrphanedStatuses */
  retain(uids: ReadonlySet<string>): void {
    for (const map of [this.#statuses, this.#reborn]) for (const uid of map.keys()) if (!uids.has(uid)) map.delete(uid);
  }
}
