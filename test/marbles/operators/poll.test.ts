import { map } from 'rxjs';
import { describe, it } from 'vitest';
import { HTTP_CHECK_FREQUENCY_MS, HTTP_TIMEOUT_MS } from '../../../src/sources/http-source.js';
import { poll, type Polled } from '../../../src/streams/operators/poll.js';
import { inTurn, marbles } from '../marbles.js';

const OF_URL = { periodMs: HTTP_CHECK_FREQUENCY_MS, timeoutMs: HTTP_TIMEOUT_MS };

describe('poll', () => {
  it(
    'runs at once, then a full period after a slow or a failed run has ended',
    marbles(({ cold, time, expectObservable, scheduler }) => {
      const run$ = inTurn(cold('---(r|)'), cold('--#'), cold('r|'));
      const periodMs = time('   ----|            ');
      const expected = '     ---r-----x---r---';
      const unsub = '        ----------------!';
      const values = { r: { kind: 'ok', value: 'r' }, x: { kind: 'failed', error: 'error' } };
      expectObservable(
        poll(() => run$, { periodMs, timeoutMs: 10, scheduler }),
        unsub,
      ).toBe(expected, values);
    }),
  );

  it(
    'asks a URL every 20 s after the previous request has ended',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const request = cold('                     500ms (r|)');
      const polled$ = poll(() => request, { ...OF_URL, scheduler });
      const expected = '                         500ms r 20499ms r 20499ms r';
      const unsub = '                            42s !';
      const subscriptions = [
        '                                        ^ 499ms !',
        '20500ms                                  ^ 499ms !',
        '41s                                      ^ 499ms !',
      ];
      expectObservable(polled$.pipe(map(({ kind }) => (kind === 'ok' ? 'r' : 'x'))), unsub).toBe(expected);
      expectSubscriptions(request.subscriptions).toBe(subscriptions);
    }),
  );

  it(
    'gives a request up after 10 s, and keeps the cadence',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const hanging = cold('-');
      const polled$ = poll(() => hanging, { ...OF_URL, scheduler });
      const named$ = polled$.pipe(map((polled: Polled<string>) => (polled.kind === 'failed' ? 'x' : 'r')));
      expectObservable(named$, '45s !').toBe('10s x 29999ms x');
      expectSubscriptions(hanging.subscriptions).toBe(['^ 9999ms !', '30s ^ 9999ms !']);
    }),
  );

  it(
    'stops the request that runs when it is unsubscribed',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const run = cold('----(r|)');
      const unsub = '   --!';
      expectObservable(
        poll(() => run, { periodMs: 10, timeoutMs: 10, scheduler }),
        unsub,
      ).toBe('---');
      expectSubscriptions(run.subscriptions).toBe('^-!');
    }),
  );
});
