import type { JournalId } from '../journal/journal.js';
import { type Pod, podFullName, podRef, type PodRef, type PodStatus } from '../pod/pod.js';
import type { RuntimePod } from '../pleg/runtime-pod.js';
import type { KillOptions, PodUpdate } from './pod-update.js';

export type WorkType = 'sync' | 'terminating' | 'terminated';

/** The updates that a started worker has taken, folded: the source of truth about its pod. */
export interface ActiveUpdate {
  readonly pod?: Pod;
  readonly mirrorPod?: Pod;
  readonly runningPod?: RuntimePod;
  readonly kill?: Pick<KillOptions, 'evict' | 'graceSeconds'>;
  readonly causes: readonly JournalId[];
}

/**
 * The state of one worker and its pod. Times are the scheduler's milliseconds.
 *
 * Source: podSyncStatus in pkg/kubelet/pod_workers.go
 */
export interface PodWorkerRecord {
  readonly uid: string;
  readonly fullName: string;
  /** An update waits, or a run works on it. */
  readonly working: boolean;
  readonly pending?: PodUpdate;
  readonly active?: ActiveUpdate;
  readonly syncedAt: number;
  readonly startedAt?: number;
  readonly terminatingAt?: number;
  readonly terminatedAt?: number;
  /** Effective seconds; 0 until termination was requested. */
  readonly graceSeconds: number;
  readonly statusOverride?: (status: PodStatus) => PodStatus;
  readonly deleted: boolean;
  readonly evicted: boolean;
  readonly finished: boolean;
  /** A create arrived while the pod was stopping: the pod starts over once its record is dropped. */
  readonly restartRequested: boolean;
  readonly observedRuntime: boolean;
  /** The end of the last run; the next run needs a newer view of the pod. */
  readonly lastSyncAt: number;
}

export const newRecord = (uid: string, fullName: string, now: number): PodWorkerRecord => ({
  uid,
  fullName,
  working: false,
  syncedAt: now,
  graceSeconds: 0,
  deleted: false,
  evicted: false,
  finished: false,
  restartRequested: false,
  observedRuntime: false,
  lastSyncAt: 0,
});

export const workTypeOf = (record: PodWorkerRecord): WorkType =>
  record.terminatedAt !== undefined ? 'terminated' : record.terminatingAt !== undefined ? 'terminating' : 'sync';

export const isTerminationRequested = (record: PodWorkerRecord): boolean => record.terminatingAt !== undefined;

/** The configuration of a record: the taken update's, else the waiting one's. */
export const podOf = (record: PodWorkerRecord): Pod | undefined => record.active?.pod ?? record.pending?.pod;

export const fullNameOf = (update: PodUpdate): string =>
  update.pod
    ? podFullName(update.pod)
    : update.runningPod
      ? `${update.runningPod.name}_${update.runningPod.namespace}`
      : '';

/** Returns the pod of a record or a run, from its configuration or its running pod. */
export const refOf = (of: Pick<PodWorkerRecord, 'uid' | 'active' | 'pending'>): PodRef => {
  const pod = of.active?.pod ?? of.pending?.pod;
  if (pod) return podRef(pod);
  const { name = '', namespace = '' } = of.active?.runningPod ?? of.pending?.runningPod ?? {};
  return { uid: of.uid, name, namespace };
};
