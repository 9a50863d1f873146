import type { JournalId } from '../journal/journal.js';
import type { Pod, PodStatus } from '../pod/pod.js';
import type { RuntimePod } from '../pleg/runtime-pod.js';

/** The reason of an update. Source: pkg/kubelet/types/pod_update.go SyncPodType. */
export type PodUpdateType = 'sync' | 'update' | 'create' | 'kill';

export interface KillOptions {
  /** The pod is being evicted: its content may go as soon as it has stopped. */
  readonly evict?: boolean;
  /** Seconds; it only shortens the pod's own grace period. */
  readonly graceSeconds?: number;
  /** Changes the status at each run that terminates the pod; the last of several counts. */
  readonly statusOverride?: (status: PodStatus) => PodStatus;
}

/** A request of a manager, such as that of shutdowns, to stop one pod. */
export interface KillRequest {
  readonly pod: Pod;
  readonly kill: KillOptions;
  /** In plain words, for the journal. */
  readonly reason: string;
  /** An event of the pod about the request, which is its cause. */
  readonly event?: KillEvent;
}

/** A warning about a pod. */
export interface KillEvent {
  readonly reason: string;
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Such a request in the journal, which is the cause of what follows. */
export interface RecordedKill extends KillRequest {
  readonly cause: JournalId;
}

/** The wanted state of one pod, for its worker. A newer update replaces an older one that was not taken yet. */
export interface PodUpdate {
  readonly type: PodUpdateType;
  /** Absent only for a pod that only the runtime knows (`runningPod`). */
  readonly pod?: Pod;
  readonly mirrorPod?: Pod;
  /** A running pod without a configuration; only a `kill` may have it without `pod`. */
  readonly runningPod?: RuntimePod;
  readonly kill?: KillOptions;
  /** The time at which the loop received the event, in the scheduler's milliseconds; for the latency metric only. */
  readonly startedAt?: number;
  readonly causes: readonly JournalId[];
}

/** The number of causes of a folded update: enough to explain it, and bounded while a worker is busy. */
const CAUSES_KEPT = 16;

/** Returns the newest causes, oldest first, each once. */
export const mergeCauses = (before: readonly JournalId[], newer: readonly JournalId[]): readonly JournalId[] => [
  ...new Set([...before, ...newer].slice(-CAUSES_KEPT)),
];

/**
 * Returns the newest update, with the fields of the older one that it must not lose: the earliest start of the latency clock and
 * the causes. The record of the worker holds kills, so they need no folding.
 */
export const foldPodUpdate = (before: PodUpdate | undefined, update: PodUpdate): PodUpdate => {
  if (!before) return update;
  const startedAt =
    update.startedAt !== undefined && before.startedAt !== undefined
      ? Math.min(before.startedAt, update.startedAt)
      : update.startedAt;
  return { ...update, startedAt, causes: mergeCauses(before.causes, update.causes) };
};
