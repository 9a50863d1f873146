import { concatMap, defer, from, ignoreElements, map, merge, of, takeUntil, tap, timer } from 'rxjs';
import { describe, it } from 'vitest';
import { PendingRequests, TOKEN_MS } from '../../../src/runtime/embedded/streaming/pending-requests.js';
import {
  closeLater,
  DRAIN_MS,
  expectedStreams,
  IDLE_MS,
  pairedStreams,
  probePaused,
  untilIdle,
  untilQuiet,
} from '../../../src/runtime/embedded/streaming/sessions/session-timing.js';
import { marbles } from '../marbles.js';

const joined = map((streams: readonly string[]) => streams.join('+'));

describe('the streams of a command', () => {
  it(
    'come together when the last one is there',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stream$ = hot(' a-b--c-d-');
      const expected = '    -----(x|) ';
      expectObservable(stream$.pipe(expectedStreams(3, scheduler), joined)).toBe(expected, { x: 'a+b+c' });
    }),
  );

  it(
    'that are not there after 30 s end the session',
    marbles(({ hot, expectObservable, expectSubscriptions, scheduler }) => {
      const stream$ = hot(' a-b----');
      const expected = '    30s #   ';
      const subs = '        ^ 29999ms !';
      const error = new Error('timed out waiting for client to create streams');
      expectObservable(stream$.pipe(expectedStreams(3, scheduler), joined)).toBe(expected, {}, error);
      expectSubscriptions(stream$.subscriptions).toBe(subs);
    }),
  );

  it(
    'are not waited for when the client has gone',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stream$ = hot(' a-b-|     ');
      const expected = '    ----(x|)  ';
      expectObservable(stream$.pipe(expectedStreams(3, scheduler), joined)).toBe(expected, { x: 'a+b' });
    }),
  );
});

describe('the two streams of a forwarded connection', () => {
  const keyOf = (stream: string): string => stream.slice(1);
  const values = { a: 'e1', b: 'e2', c: 'd2', d: 'd1', e: 'e3', f: 'd3' };

  it(
    'come together as soon as both are there, those of one connection beside those of others',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stream$ = hot(' a-b-c-d-(ef)-', values);
      const expected = '    ----y-x-z---- ';
      expectObservable(stream$.pipe(pairedStreams(keyOf, scheduler), joined)).toBe(expected, {
        x: 'e1+d1',
        y: 'e2+d2',
        z: 'e3+d3',
      });
    }),
  );

  it(
    'come alone after 30 s without the other, which is alone then, too',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stream$ = hot(' a 30s d---', values);
      const expected = '    30s x 29999ms -y';
      const unsub = '       70s !';
      expectObservable(stream$.pipe(pairedStreams(keyOf, scheduler), joined), unsub).toBe(expected, {
        x: 'e1',
        y: 'd1',
      });
    }),
  );
});

it(
  'a session ends after 4 h without traffic, counted from the last',
  marbles(({ hot, expectObservable, scheduler }) => {
    let lastMs = 0;
    const traffic$ = hot(' 60m a 60m b').pipe(tap(() => (lastMs = scheduler.now())));
    const expected = '     360m -|';
    const idle$ = untilIdle(() => lastMs, IDLE_MS, scheduler);
    expectObservable(merge(idle$, traffic$.pipe(ignoreElements(), takeUntil(timer(IDLE_MS, scheduler))))).toBe(
      expected,
    );
  }),
);

it(
  'a client that is not read is probed every 5 s, and no other',
  marbles(({ expectObservable, scheduler }) => {
    const isPaused = (): boolean => scheduler.now() > 6_000 && scheduler.now() < 17_000;
    const probed$ = probePaused(isPaused, () => undefined, scheduler).pipe(map(() => 'p'));
    const expected = ' 10s p 4999ms p';
    const unsub = '    30s !';
    expectObservable(probed$, unsub).toBe(expected);
  }),
);

describe('the output of a command that has ended', () => {
  it(
    'is over after 1 s without any',
    marbles(({ hot, expectObservable, scheduler }) => {
      const output$ = hot('  300ms o 300ms o 3s -');
      const expected = '     601ms 1s (q|)';
      expectObservable(untilQuiet(output$, () => false, scheduler).pipe(map(() => 'q'))).toBe(expected);
    }),
  );

  it(
    'is not over while it waits for the client',
    marbles(({ hot, expectObservable, scheduler }) => {
      const output$ = hot('  o 9s -');
      const isBlocked = (): boolean => scheduler.now() < 4 * DRAIN_MS;
      // The period in which the client read on does not count.
      const expected = '     4500ms (q|)';
      expectObservable(untilQuiet(output$, isBlocked, scheduler).pipe(map(() => 'q'))).toBe(expected);
    }),
  );
});

it(
  'a URL is valid for 1 min, once',
  marbles(({ expectObservable, scheduler }) => {
    let draws = 0;
    const random = (bytes: number): Buffer => Buffer.alloc(bytes, (draws += 1));
    const taken$ = defer(() => {
      const pending = new PendingRequests<string>(random, scheduler);
      const [once, early, late] = ['once', 'early', 'late'].map((each) => pending.add(each));
      const take = (token = '') => of(pending.take(token) ?? 'nothing');
      const at = (ms: number, token?: string) => timer(ms, scheduler).pipe(concatMap(() => take(token)));
      const turns = [at(10, once), at(1, once), at(TOKEN_MS - 12, early), at(1, late)];
      return from(turns).pipe(concatMap((taken) => taken));
    });
    const expected = ' 10ms on 59987ms e(n|)';
    expectObservable(taken$).toBe(expected, { o: 'once', e: 'early', n: 'nothing' });
  }),
);

it.each([
  ['-------------- ', '10s (c|)'],
  ['9s g           ', '9s |'],
])('a session that is over is closed after 10 s, unless the client was faster', (gone, closed) =>
  marbles(({ hot, expectObservable, scheduler }) => {
    const closed$ = closeLater(hot(gone), () => undefined, scheduler).pipe(map(() => 'c'));
    expectObservable(closed$).toBe(closed);
  })(),
);
