import { defer, type MonoTypeOperatorFunction, type SchedulerLike, switchMap, tap, timer } from 'rxjs';
import { reserveToken, type TokenBucket, type TokenRate } from '../model/token-bucket.js';

/** Lets a source begin when there is a token for it. `waited` is told how many milliseconds that took. */
export type RateLimit = <T>(waited?: (waitedMs: number) => void) => MonoTypeOperatorFunction<T>;

/**
 * Sources that share one of these begin at `burst` at once and then `perSecond`, in the order in which they were subscribed. One
 * that is unsubscribed while it waits gives its token back if nobody has asked after it; else its turn passes unused.
 *
 * Source: staging/src/k8s.io/client-go/util/flowcontrol/throttle.go, golang.org/x/time/rate
 */
export const rateLimit = (rate: TokenRate, scheduler: SchedulerLike): RateLimit => {
  let bucket: TokenBucket | undefined;
  return (waited) => (source) =>
    defer(() => {
      const askedAt = scheduler.now();
      const before = bucket;
      const { waitMs, bucket: after } = reserveToken(before, askedAt, rate);
      bucket = after;
      if (waitMs === 0) {
        waited?.(0);
        return source;
      }
      return timer(Math.ceil(waitMs), scheduler).pipe(
        tap({
          next: () => waited?.(scheduler.now() - askedAt),
          unsubscribe: () => {
            if (bucket === after) bucket = before;
          },
        }),
        switchMap(() => source),
      );
    });
};
