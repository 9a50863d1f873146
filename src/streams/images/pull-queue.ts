import { defer, type MonoTypeOperatorFunction, type SchedulerLike, throwError } from 'rxjs';
import { takeToken, type TokenBucket } from '../../model/values/token-bucket.js';
import { inSlots } from '../operators/in-slots.js';

/** The limits of a node for pulls at a time and per second. */
export interface PullLimits {
  /** One pull at a time; the default. A pull that hangs then delays all others of the node. */
  readonly serialized?: boolean;
  /** Pulls at a time if they are not serialized. Default: no limit. */
  readonly maxParallel?: number;
  /** Pulls that may begin per second after `burst` pulls; 0 means no limit. */
  readonly perSecond?: number;
  readonly burst?: number;
}

/** The default rate of pulls. Source: pkg/kubelet/apis/config/v1beta1/defaults.go RegistryPullQPS, RegistryBurst. */
export const PULL_RATE = { perSecond: 5, burst: 10 };

/** Puts a pull into the queue of the node. It begins when it has a slot; an unsubscription removes it. */
export type PullQueue = <T>() => MonoTypeOperatorFunction<T>;

/**
 * Makes the queue for all pulls of a node, in order of arrival.
 *
 * Errors: those of the pull; `pull QPS exceeded` for a pull that begins when too many have begun lately.
 * Source: pkg/kubelet/images/puller.go, helpers.go throttleImagePulling. The kubelet's queue has ten places, and further pulls wait in
 *         order before it: the order of pulls is the same.
 */
export const pullQueue = (
  { serialized = true, maxParallel = Infinity, perSecond = PULL_RATE.perSecond, burst = PULL_RATE.burst }: PullLimits,
  scheduler: SchedulerLike,
): PullQueue => {
  const inPullSlot = inSlots({ count: serialized ? 1 : maxParallel, scheduler });
  let bucket: TokenBucket | undefined;
  return () => (source) =>
    defer(() => {
      if (perSecond === 0) return source;
      const taken = takeToken(bucket, scheduler.now(), { perSecond, burst });
      bucket = taken.bucket;
      return taken.isTaken ? source : throwError(() => new Error('pull QPS exceeded'));
    }).pipe(inPullSlot());
};
