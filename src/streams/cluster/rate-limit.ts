import { defer, type MonoTypeOperatorFunction, type SchedulerLike, switchMap, tap, timer } from 'rxjs';
import { reserveToken, type TokenBucket, type TokenRate } from '../../model/values/token-bucket.js';

/** Makes an operator that subscribes to its source when there is a token. `waited` is called with the wait in milliseconds. */
export type RateLimit = <T>(waited?: (waitedMs: number) => void) => MonoTypeOperatorFunction<T>;

/**
 * Makes a rate limit. `burst` of the sources that share it begin at once, then `perSecond`, in the order of their subscriptions. A source
 * that is unsubscribed while it waits returns its token if no other has reserved one after it; else the token is unused.
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
