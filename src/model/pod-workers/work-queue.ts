import type { JournalId } from '../journal/journal.js';

export interface DueWork {
  readonly uid: string;
  /** The journal entry that made the pod due. */
  readonly cause: JournalId;
}

/**
 * The time at which each pod is due again: one entry per pod, the newest wins. It wakes no worker by itself; the sync tick empties it.
 *
 * Source: pkg/kubelet/util/queue/work_queue.go
 */
export class WorkQueue {
  readonly #entries = new Map<string, { readonly dueAt: number; readonly cause: JournalId }>();

  enqueue(uid: string, dueAt: number, cause: JournalId): void {
    this.#entries.set(uid, { dueAt, cause });
  }

  /** Removes and returns everything that was due strictly before `now`, whether or not its pod still exists. */
  takeDue(now: number): readonly DueWork[] {
    const due: DueWork[] = [];
    for (const [uid, { dueAt, cause }] of this.#entries) {
      if (dueAt >= now) continue;
      due.push({ uid, cause });
      this.#entries.delete(uid);
    }
    return due;
  }

  get size(): number {
    return this.#entries.size;
  }
}

/**
 * Returns the pods to sync in one turn of the loop, each once, with the causes of its sync: first the pods that were due in the work queue,
 * then those that are `late` for their active deadline. A deadline is no entry of the journal.
 */
export const causesOfSyncs = (
  due: readonly DueWork[],
  late: readonly string[],
): ReadonlyMap<string, readonly JournalId[]> => {
  const causes = new Map<string, readonly JournalId[]>(due.map(({ uid, cause }) => [uid, [cause]]));
  for (const uid of late) if (!causes.has(uid)) causes.set(uid, []);
  return causes;
};
