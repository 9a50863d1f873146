import type { PodStatus } from './pod.js';

export interface StoredStatus {
  readonly status: PodStatus;
  /** Counts the changes of this pod's status, from 1. */
  readonly version: number;
  /** The pod has ended and nothing of it is left to clean up. */
  readonly isFinished: boolean;
}

/**
 * The newest status of every pod, as this node sees it.
 *
 * Source: the cache side of pkg/kubelet/status/status_manager.go
 */
export class PodStatusStore {
  readonly #statuses = new Map<string, StoredStatus>();

  get(uid: string): PodStatus | undefined {
    return this.#statuses.get(uid)?.status;
  }

  stored(uid: string): StoredStatus | undefined {
    return this.#statuses.get(uid);
  }

  /** Stores `status` and says whether it differs from the one before. */
  set(uid: string, status: PodStatus, isFinished = false): boolean {
    const before = this.#statuses.get(uid);
    if (before && before.isFinished === isFinished && isSame(before.status, status)) return false;
    this.#statuses.set(uid, {
      status,
      version: (before?.version ?? 0) + 1,
      isFinished: isFinished || (before?.isFinished ?? false),
    });
    return true;
  }

  /** Forgets the pods that nobody wants and nothing runs of. Source: RemoveOrphanedStatuses */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#statuses.keys()) if (!uids.has(uid)) this.#statuses.delete(uid);
  }
}

/** Statuses are made by one function in one order of keys, so their text compares them. */
const isSame = (one: PodStatus, other: PodStatus): boolean => JSON.stringify(one) === JSON.stringify(other);
