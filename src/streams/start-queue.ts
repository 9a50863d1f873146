import { defer, type MonoTypeOperatorFunction, type SchedulerLike, tap } from 'rxjs';
import { SyncCancelled } from '../model/sync-error.js';
import { adaptiveLimit } from './operators/adaptive-limit.js';
import { errorOnAbort } from './operators/error-on-abort.js';

/** Those with a higher number go first: a pod that is under way gets done before another one begins. */
const RANKS = { RunPodSandbox: 0, CreateContainer: 1, StartContainer: 2 } as const;

/** The calls of a runtime that start something. */
export type StartingCall = keyof typeof RANKS;

/**
 * Puts a call that starts something into the queue of the node. It begins when it is its turn; `signal` takes it out of the
 * queue with `SyncCancelled`, and means nothing to it once it has begun.
 */
export type StartQueue = <T>(call: StartingCall, signal?: AbortSignal) => MonoTypeOperatorFunction<T>;

/**
 * The queue for everything that the runtime has to start. A runtime gets most done with a few such calls at a time, and how
 * many that are is learned from how long they take, see `adaptiveLimit`. Whatever stops, removes or reads does not wait here.
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
