import type { JournalId } from '../journal/journal.js';
import type { RuntimePod } from '../pleg/runtime-pod.js';
import type { PodWait } from '../pod-actions/start-wait.js';
import type { Pod, PodRef, PodStatus } from '../pod/pod.js';
import type { PodUpdateType } from './pod-update.js';
import type { WorkType } from './pod-worker-record.js';
import type { Wake } from './wake.js';

/** The inputs of one run of a worker. */
export interface Run {
  readonly uid: string;
  readonly work: WorkType;
  readonly type: PodUpdateType;
  readonly pod?: Pod;
  readonly mirrorPod?: Pod;
  readonly runningPod?: RuntimePod;
  /** Seconds; undefined for the pod's own grace period. */
  readonly graceSeconds?: number;
  readonly statusOverride?: (status: PodStatus) => PodStatus;
  readonly startedAt?: number;
  /** This run is the first of its pod. */
  readonly isFirst: boolean;
  readonly lastSyncAt: number;
  readonly causes: readonly JournalId[];
}

/** The answer of the registry to a wake: a run, or the reason why there is none. */
export type Start =
  | { readonly kind: 'run'; readonly run: Run }
  /** No update waits; an earlier run has taken the update of this wake. */
  | { readonly kind: 'idle' }
  /** Another static pod of the same full name is first, or one that is being stopped, of the same name and source. */
  | { readonly kind: 'not-yet'; readonly pod: PodRef; readonly holder: PodRef; readonly causes: readonly JournalId[] }
  /** The pod was stopped before its first run, so there is none. */
  | {
      readonly kind: 'never';
      readonly pod: PodRef;
      /** The next static pod of the same full name. */
      readonly wakes: readonly Wake[];
      readonly causes: readonly JournalId[];
    };

/** The end of a run. */
export type RunResult =
  | { readonly error: unknown }
  | {
      readonly isTerminal: boolean;
      /** The next run follows at once. */
      readonly isUnfinished?: boolean;
      /** Containers of the pod wait before they start. */
      readonly wait?: PodWait;
    };

/** The answer of the registry to the end of a run: the next step of this pod, and the wakes of others. */
export interface Completion {
  /** `again`: an update waits; `advance`: the next phase starts at once; `rest`: the pod is due later; `exit`: no run follows. */
  readonly next: 'again' | 'advance' | 'rest' | 'exit';
  /** The wake of this worker, after `again` and `advance`. */
  readonly own?: Wake;
  /** The next static pod of the same full name, after `exit`. */
  readonly others: readonly Wake[];
  /** The registry has dropped the record of this pod. */
  readonly forgotten?: PodRef;
}
