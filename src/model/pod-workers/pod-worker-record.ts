import type { JournalId } from '../journal.js';
import { type Pod, podFullName, podRef, type PodRef, type PodStatus } from '../pod.js';
import type { RuntimePod } from '../runtime-pod.js';
import type { KillOptions, PodUpdate } from './pod-update.js';

export type WorkType = 'sync' | 'terminating' | 'terminated';

/** What a started worker last took, accumulated: the source of truth about a pod for everybody else. */
export interface ActiveUpdate {
  readonly pod?: Pod;
  readonly mirrorPod?: Pod;
  readonly runningPod?: RuntimePod;
  readonly kill?: Pick<KillOptions, 'evict' | 'graceSeconds'>;
  readonly causes: readonly JournalId[];
}

/**
 * Everything one worker remembers of its pod. Times are the scheduler's milliseconds.
 *
 * Source: podSyncStatus in pkg/kubelet/pod_workers.go
 */
export interface PodWorkerRecord {
  readonly uid: string;
  readonly fullName: string;
  /** An update waits or is being worked on. */
  readonly working: boolean;
  readonly pending?: PodUpdate;
  readonly active?: ActiveUpdate;
  readonly syncedAt: number;
  readonly startedAt?: number;
  readonly terminatingAt?: number;
  readonly terminatedAt?: number;
  /** The worker has taken notice of the termination: it will never sync again. */
  readonly startedTerminating: boolean;
  /** Effective seconds; 0 until termination was requested. */
  readonly graceSeconds: number;
  readonly statusOverride?: (status: PodStatus) => PodStatus;
  readonly deleted: boolean;
  readonly evicted: boolean;
  readonly finished: boolean;
  /** A create arrived while the pod was on its way out: it starts over once forgotten. */
  readonly restartRequested: boolean;
  readonly observedRuntime: boolean;
  /** When the last run ended; a run needs a view of the runtime that is newer. */
  readonly lastSyncAt: number;
}

export const newRecord = (uid: string, fullName: string, now: number): PodWorkerRecord => ({
  uid,
  fullName,
  working: false,
  syncedAt: now,
  startedTerminating: false,
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

/** The configuration that counts for a record: what was taken, else what waits. */
export const podOf = (record: PodWorkerRecord): Pod | undefined => record.active?.pod ?? record.pending?.pod;

export const fullNameOf = (update: PodUpdate): string =>
  update.pod
    ? podFullName(update.pod)
    : update.runningPod
      ? `${update.runningPod.name}_${update.runningPod.namespace}`
      : '';

/** Which pod a record or a run is about, from whatever is known of it. */
export const refOf = (of: Pick<PodWorkerRecord, 'uid' | 'active' | 'pending'>): PodRef => {
  const pod = of.active?.pod ?? of.pending?.pod;
  if (pod) return podRef(pod);
  const { name = '', namespace = '' } = of.active?.runningPod ?? of.pending?.runningPod ?? {};
  return { uid: of.uid, name, namespace };
};
