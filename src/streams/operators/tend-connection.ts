import {
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  type OperatorFunction,
  type SchedulerLike,
  switchMap,
  take,
  tap,
  timer,
} from 'rxjs';
import { every } from './every.js';

/** The number of reads of the counter in the longest silence. */
export const READS_PER_SILENCE = 10;
/** The delay of the own timer, in milliseconds, from which a missing answer proves nothing: it may have arrived without being read. */
export const HELD_UP_MS = 100;

export interface TendedConnection {
  /** Returns the number of bytes received so far. */
  readonly received: () => number;
  /** Sends a ping and emits when it is answered. Unsubscribing ignores the answer. */
  readonly ping: () => Observable<unknown>;
}

export interface ConnectionTiming {
  /** The time without a received byte, while in use, after which a ping is sent; up to a tenth longer. 0: no pings. */
  readonly silenceMs: number;
  /** The time limit for the answer to a ping. */
  readonly answerMs: number;
  /** The time after which an unused connection is complete. */
  readonly unusedMs: number;
  readonly scheduler: SchedulerLike;
}

/**
 * Watches over a connection; the source emits whether the connection is in use. Emits nothing. Any received byte counts as an answer.
 * No ping is sent while the connection is not in use.
 *
 * Errors: a ping was not answered in time, except while the program itself was held up; then the next read sends another one.
 * Ends:   when the connection was unused for `unusedMs`; the owner closes it then. Not with the source.
 * Source: golang.org/x/net/http2/transport.go ReadIdleTimeout, PingTimeout, healthCheck
 */
export const tendConnection =
  (
    { received, ping }: TendedConnection,
    { silenceMs, answerMs, unusedMs, scheduler }: ConnectionTiming,
  ): OperatorFunction<boolean, never> =>
  (source) =>
    defer(() => {
      let last = { bytes: received(), at: scheduler.now() };
      const note = (): void => {
        last = { bytes: received(), at: scheduler.now() };
      };
      const silentMs = (): number => {
        if (received() !== last.bytes) note();
        return scheduler.now() - last.at;
      };
      const answer$ = defer(() => {
        const deadline = scheduler.now() + answerMs;
        const answered$ = ping().pipe(map(() => true));
        return merge(answered$, timer(answerMs, scheduler).pipe(map(() => false))).pipe(
          take(1),
          tap((isAnswered) => {
            if (isAnswered) return note();
            const isHeldUp = scheduler.now() > deadline + HELD_UP_MS;
            if (!isHeldUp && silentMs() > 0) throw new Error(`no answer to a ping within ${answerMs / 1_000} s`);
          }),
        );
      });
      const reads$ = every({ periodMs: silenceMs / READS_PER_SILENCE, scheduler }, () =>
        silentMs() >= silenceMs ? answer$ : EMPTY,
      ).pipe(ignoreElements());
      return merge(source, NEVER).pipe(
        distinctUntilChanged(),
        tap(silentMs),
        switchMap((isUsed) => (!isUsed ? timer(unusedMs, scheduler) : silenceMs > 0 ? reads$ : NEVER)),
        take(1),
        ignoreElements(),
      );
    });
