import { defer, type MonoTypeOperatorFunction, type SchedulerLike, throwError } from 'rxjs';
import { takeToken, type TokenBucket } from '../model/token-bucket.js';
import { takeTurns } from './operators/take-turns.js';

/** How many images a node pulls at a time, and how many in a second. */
export interface PullLimits {
  /** One after the other; the default. One pull that hangs then holds all others of the node. */
  readonly serialized?: boolean;
  /** At a time, where they are not serialized; any number unless given. */
  readonly maxParallel?: number;
  /** Pulls that may begin each second once `burst` of them have begun; 0 for any number. */
  readonly perSecond?: number;
  readonly burst?: number;
}

/** Puts a pull into the queue of the node: it begins when it is its turn, and leaves when it is unsubscribed. */
export type PullQueue = <T>() => MonoTypeOperatorFunction<T>;

/**
 * The queue for all pulls of a node, in the order in which they came.
 *
 * Errors: those of the pull, and `pull QPS exceeded` for one whose turn comes when too many have begun lately.
 * Source: pkg/kubelet/images/puller.go, helpers.go throttleImagePulling. The kubelet's queue of ten cannot be told from this
 *         one: further pulls wait before it, in order as well.
 */
export const pullQueue = (
  { serialized = true, maxParallel = Infinity, perSecond = 5, burst = 10 }: PullLimits,
  scheduler: SchedulerLike,
): PullQueue => {
  const takeTurn = takeTurns(serialized ? 1 : maxParallel);
  let bucket: TokenBucket | undefined;
  return () => (source) =>
    defer(() => {
      if (perSecond === 0) return source;
      const taken = takeToken(bucket, scheduler.now(), { perSecond, burst });
      bucket = taken.bucket;
      return taken.isTaken ? source : throwError(() => new Error('pull QPS exceeded'));
    }).pipe(takeTurn());
};
