import type { countRunning } from '../../model/pleg/pleg.js';
import type { RuntimePod } from '../../model/pleg/runtime-pod.js';

/** A relist, the read of one pod, or its effect; for metrics, logs and health. Times and durations in milliseconds. */
export type PlegObservation =
  | {
      readonly kind: 'relist';
      /** The time of the request. `plegHealth` takes the newest one of a relist with `pods`. */
      readonly at: number;
      readonly durationMs: number;
      /** The time since the request of the last successful relist; absent on the first. */
      readonly intervalMs?: number;
      /** Absent if the listing failed. */
      readonly pods?: readonly RuntimePod[];
      readonly error?: unknown;
    }
  /** A read is in flight and has been for `LATE_READ_MS`. */
  | { readonly kind: 'pod-read-late'; readonly uid: string; readonly at: number }
  /** The counts of running pods and containers after a read that showed a change. */
  | ({ readonly kind: 'changed' } & ReturnType<typeof countRunning>)
  | {
      readonly kind: 'pod-read';
      readonly uid: string;
      readonly at: number;
      readonly durationMs: number;
      readonly error?: unknown;
    };
