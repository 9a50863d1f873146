import { isSamePodStatus } from './pod-status/same-pod-status.js';
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
  readonly #listeners = new Set<(uid: string) => void>();

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
   * Stores `status` and says whether it differs, in what this agent has to say, from the one before. A pod that was finished once
   * stays so.
   */
  set(uid: string, status: PodStatus, isFinished = false): boolean {
    const before = this.#statuses.get(uid);
    const finished = isFinished || (before?.isFinished ?? false);
    const isNews = !before || before.isFinished !== finished || !isSamePodStatus(before.status, status);
    this.#statuses.set(uid, {
      status,
      version: (before?.version ?? 0) + (isNews ? 1 : 0),
      isFinished: finished,
    });
    if (isNews) this.touch(uid);
    return isNews;
  }

  /** `listener` hears of every pod whose status has changed, until the result is called. */
  onChange(listener: (uid: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Something that has to do with the status of the pod has changed, such as what the API has of it. */
  touch(uid: string): void {
    for (const listener of this.#listeners) listener(uid);
  }

  forget(uid: string): void {
    this.#statuses.delete(uid);
  }

  /** Forgets the pods that nobody wants and nothing runs of. Source: RemoveOrphanedStatuses */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#statuses.keys()) if (!uids.has(uid)) this.#statuses.delete(uid);
  }
}
