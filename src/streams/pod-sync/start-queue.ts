import { defer, type MonoTypeOperatorFunction, type SchedulerLike, tap } from 'rxjs';
import { SyncCancelled } from '../../model/pod-actions/sync-error.js';
import { errorOnAbort } from '../operators/error-on-abort.js';
import { inSlots } from '../operators/in-slots.js';

/** Runtimes start pods fastest with a few calls at a time: docs/performance.md has the figures. */
const STARTS_AT_ONCE = 8;
/** A call that hangs goes on, but delays the others no longer. */
export const START_TURN_MS = 5_000;

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
 * The queue of all starting calls, eight of which run side by side. Calls that stop, remove or read do not wait here.
 *
 * Errors: those of the call, and `SyncCancelled`.
 */
export const startQueue = (scheduler: SchedulerLike): StartQueue => {
  const inSlot = inSlots({ count: STARTS_AT_ONCE, longestMs: START_TURN_MS, scheduler });
  return (call, signal) => (source) =>
    defer(() => {
      let hasBegun = false;
      const cancelled = () => new SyncCancelled();
      return source.pipe(
        tap({ subscribe: () => (hasBegun = true) }),
        inSlot(RANKS[call]),
        errorOnAbort(signal, cancelled, () => !hasBegun),
      );
    });
};
