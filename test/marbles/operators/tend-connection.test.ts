import { NEVER, type Observable, type SchedulerLike, tap } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, it } from 'vitest';
import { PING_AFTER_MS, PING_ANSWER_MS } from '../../../src/kube-api/http2-settings.js';
import { type ConnectionTiming, tendConnection } from '../../../src/streams/operators/tend-connection.js';
import { marbles } from '../marbles.js';

const OF_API = { silenceMs: PING_AFTER_MS, answerMs: PING_ANSWER_MS, unusedMs: 60_000 };
const DEAD = new Error('no answer to a ping within 5 s');
const USES = { u: true, n: false };

interface Peer {
  /** Each value is a received byte. */
  readonly byte$: Observable<unknown>;
  /** The answer to each ping. */
  readonly answer$: Observable<unknown>;
}

/** A connection to a peer; `received` has to be subscribed for its counter. */
const tended = (
  isUsed$: Observable<boolean>,
  { byte$, answer$ }: Peer,
  timing: ConnectionTiming,
): { readonly tended$: Observable<never>; readonly received$: Observable<unknown> } => {
  let bytes = 0;
  return {
    tended$: isUsed$.pipe(tendConnection({ received: () => bytes, ping: () => answer$ }, timing)),
    received$: byte$.pipe(tap(() => (bytes += 1))),
  };
};
/** A clock that jumps: from `at` on it is `byMs` later, as if the process had not run meanwhile. */
const heldUp = (scheduler: TestScheduler, at: number, byMs: number): SchedulerLike => ({
  now: () => scheduler.now() + (scheduler.now() >= at ? byMs : 0),
  schedule: scheduler.schedule.bind(scheduler),
});

describe('a connection in use', () => {
  it(
    'is pinged after 10 s of silence, and dead after 5 s without an answer',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const isUsed$ = hot('u', USES);
      const answer$ = cold('-');
      const { tended$ } = tended(isUsed$, { byte$: NEVER, answer$ }, { ...OF_API, scheduler });
      expectObservable(tended$).toBe('15s #', {}, DEAD);
      expectSubscriptions(answer$.subscriptions).toBe('10s ^ 4999ms !');
    }),
  );

  it(
    'is pinged at most 11 s after the last byte',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const isUsed$ = hot('u', USES);
      const byte$ = hot('  1ms b', {});
      const answer$ = cold('-');
      const { tended$, received$ } = tended(isUsed$, { byte$, answer$ }, { ...OF_API, scheduler });
      expectObservable(received$).toBe('1ms b', {});
      expectObservable(tended$).toBe('16s #', {}, DEAD);
      expectSubscriptions(answer$.subscriptions).toBe('11s ^ 4999ms !');
    }),
  );

  it(
    'lives on with an answer, and is pinged again after the next silence',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const isUsed$ = hot('              u', USES);
      const answer$ = cold('             4999ms (a|)');
      const unsub = '                    35s !';
      const { tended$ } = tended(isUsed$, { byte$: NEVER, answer$ }, { ...OF_API, scheduler });
      expectObservable(tended$, unsub).toBe('');
      expectSubscriptions(answer$.subscriptions).toBe(['10s ^ 4998ms !', '24999ms ^ 4998ms !']);
    }),
  );

  it(
    'lives on with any byte instead of the answer, for example while a long reply is under way',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const isUsed$ = hot('u', USES);
      const byte$ = hot('  14999ms b', {});
      const { tended$, received$ } = tended(isUsed$, { byte$, answer$: cold('-') }, { ...OF_API, scheduler });
      expectObservable(received$).toBe('14999ms b', {});
      expectObservable(tended$).toBe('30s #', {}, DEAD);
    }),
  );

  it(
    'is not pinged while bytes come',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const isUsed$ = hot('u', USES);
      const byte$ = cold('         9s b 8999ms b 8999ms b', {});
      const answer$ = cold('-');
      const { tended$, received$ } = tended(isUsed$, { byte$, answer$ }, { ...OF_API, scheduler });
      expectObservable(received$).toBe('9s b 8999ms b 8999ms b', {});
      expectObservable(tended$, '36s !').toBe('');
      expectSubscriptions(answer$.subscriptions).toBe([]);
    }),
  );

  it(
    'is not dead if the program was held up for more than 100 ms when the answer was due; it is pinged again',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const isUsed$ = hot('u', USES);
      const answer$ = cold('-');
      const clock = heldUp(scheduler, 15_000, 101);
      const { tended$ } = tended(isUsed$, { byte$: NEVER, answer$ }, { ...OF_API, scheduler: clock });
      expectObservable(tended$).toBe('21s #', {}, DEAD);
      expectSubscriptions(answer$.subscriptions).toBe(['10s ^ 4999ms !', '16s ^ 4999ms !']);
    }),
  );

  it(
    'is dead if the program was held up for 100 ms',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const clock = heldUp(scheduler, 15_000, 100);
      const peer = { byte$: NEVER, answer$: cold('-') };
      const { tended$ } = tended(hot('u', USES), peer, { ...OF_API, scheduler: clock });
      expectObservable(tended$).toBe('15s #', {}, DEAD);
    }),
  );

  it(
    'is never pinged if the silence is 0',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const answer$ = cold('-');
      const timing = { ...OF_API, silenceMs: 0, scheduler };
      const { tended$ } = tended(hot('u', USES), { byte$: NEVER, answer$ }, timing);
      expectObservable(tended$, '10m !').toBe('');
      expectSubscriptions(answer$.subscriptions).toBe([]);
    }),
  );

  it(
    'fails with the error of a ping',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const peer = { byte$: NEVER, answer$: cold('--#') };
      const { tended$ } = tended(hot('u', USES), peer, { ...OF_API, scheduler });
      expectObservable(tended$).toBe('10002ms #');
    }),
  );
});

describe('a connection that nothing uses', () => {
  it(
    'is not pinged, and is complete after 60 s',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const answer$ = cold('-');
      const { tended$ } = tended(hot('n', USES), { byte$: NEVER, answer$ }, { ...OF_API, scheduler });
      expectObservable(tended$).toBe('60s |');
      expectSubscriptions(answer$.subscriptions).toBe([]);
    }),
  );

  it(
    'is pinged at once when it is used after a silence: it may be dead',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const isUsed$ = hot('u 999ms n 29s u', USES);
      const answer$ = cold('-');
      const { tended$ } = tended(isUsed$, { byte$: NEVER, answer$ }, { ...OF_API, scheduler });
      expectObservable(tended$).toBe('35001ms #', {}, DEAD);
      expectSubscriptions(answer$.subscriptions).toBe('30001ms ^ 4999ms !');
    }),
  );

  it(
    'counts its time from the last use; other requests begin and end meanwhile',
    marbles(({ hot, expectObservable, scheduler }) => {
      const isUsed$ = hot('n 49999ms u 999ms u 999ms n', USES);
      const peer = { byte$: NEVER, answer$: NEVER };
      const { tended$ } = tended(isUsed$, peer, { ...OF_API, silenceMs: 0, scheduler });
      expectObservable(tended$).toBe('112s |');
    }),
  );

  it(
    'ignores an answer that is missing when the last request ends',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const isUsed$ = hot('         u 11999ms n', USES);
      const answer$ = cold('-');
      const { tended$ } = tended(isUsed$, { byte$: NEVER, answer$ }, { ...OF_API, scheduler });
      expectObservable(tended$).toBe('72s |');
      expectSubscriptions(answer$.subscriptions).toBe('10s ^ 1999ms !');
    }),
  );
});
