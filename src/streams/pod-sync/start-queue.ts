import { defer, type MonoTypeOperatorFunction, type SchedulerLike, tap } from 'rxjs';
import { SyncCancelled } from '../../model/pod-actions/sync-error.js';
import { adaptiveLimit } from '../operators/adaptive-limit.js';
import { errorOnAbort } from '../operators/error-on-abort.js';

/** The call with the highest number is next: a pod whose start has begun is finished before another start begins. */
const RANKS = { RunPodSandbox: 0, CreateContainer: 1, StartContainer: 2 } as const;

/** The calls of a runtime that belong to a start. */
export type StartingCall = keyof typeof RANKS;

/**
 * Puts a call into the queue of the node. `signal` takes it out of the queue with `SyncCancelled`; a call that has begun ignores
 * the signal.
 */
export type StartQueue = <T>(call: StartingCall, signal?: AbortSignal) => MonoTypeOperatorFunction<T>;

/**
 * The queue of all starting calls. A runtime is fastest with a few such calls at a time; `adaptiveLimit` learns their number from
 * their durations. Calls that stop, remove or read do not wait here.
 *
 * Errors: those of the call, and `SyncCancelled`.
 */
export const startQueue = (scheduler: SchedulerLike): StartQueue => {
  const limited = adaptiveLimit({ scheduler });
  return (call, signal) => (source) =>
    defer(() => {
      let hasBegun = false;
      const cancelled = () => new SyncCancelled();
      return source.pipe(
        tap({ subscribe: () => (hasBegun = true) }),
        limited({ kind: call, rank: RANKS[call] }),
        errorOnAbort(signal, cancelled, () => !hasBegun),
      );
    });
};
