import type { JournalId } from '../journal.js';
import type { Pod, PodStatus } from '../pod.js';
import type { RuntimePod } from '../runtime-pod.js';

/** Why a worker is told of a pod. Source: pkg/kubelet/types/pod_update.go SyncPodType. */
export type PodUpdateType = 'sync' | 'update' | 'create' | 'kill';

export interface KillOptions {
  /** The pod is being evicted: its content may go as soon as it has stopped. */
  readonly evict?: boolean;
  /** Seconds; only ever shortens what the pod itself asks for. */
  readonly graceSeconds?: number;
  /** Applied to the status on every attempt to terminate; of several the last one counts. */
  readonly statusOverride?: (status: PodStatus) => PodStatus;
}

/** What the sync loop asks of one pod's worker. A newer one replaces an older one that was not taken yet. */
export interface PodUpdate {
  readonly type: PodUpdateType;
  /** Absent only when all that is known of the pod is what runs (`runningPod`). */
  readonly pod?: Pod;
  readonly mirrorPod?: Pod;
  /** A pod that runs without any configuration; only `kill` may carry it alone. */
  readonly runningPod?: RuntimePod;
  readonly kill?: KillOptions;
  /** When the loop took the event up, in the scheduler's milliseconds; for the latency metric only. */
  readonly startedAt?: number;
  readonly causes: readonly JournalId[];
}

/** How many causes a folded update keeps; enough to explain it, bounded however long a worker stays busy. */
const CAUSES_KEPT = 16;

/** Newest first in effect, oldest first in order, without repetition. */
export const mergeCauses = (before: readonly JournalId[], newer: readonly JournalId[]): readonly JournalId[] => [
  ...new Set([...before, ...newer].slice(-CAUSES_KEPT)),
];

/**
 * The newest update under everything that must not get lost by replacing an older, undelivered one: the earliest start
 * of the latency clock and the chain of causes. Kills need no folding here, since they live in the worker's record.
 */
export const foldPodUpdate = (before: PodUpdate | undefined, update: PodUpdate): PodUpdate => {
  if (!before) return update;
  const startedAt =
    update.startedAt !== undefined && before.startedAt !== undefined
      ? Math.min(before.startedAt, update.startedAt)
      : update.startedAt;
  return { ...update, startedAt, causes: mergeCauses(before.causes, update.causes) };
};
