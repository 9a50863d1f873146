import { describe, it } from 'vitest';
import { debounceAtMost } from '../../../src/streams/operators/debounce-at-most.js';
import { marbles } from '../marbles.js';

describe('debounceAtMost', () => {
  it(
    'emits the last value of a burst after a pause or the end of the source, and starts over with the next burst',
    marbles(({ hot, expectObservable, expectSubscriptions, time, scheduler }) => {
      const value$ = hot('  a-b-c------d-----e-|');
      const quietMs = time('   ---|             ');
      const expected = '    -------c------d----(e|)';
      const subscribed = '  ^------------------!';
      expectObservable(value$.pipe(debounceAtMost({ quietMs, longestMs: 30, scheduler }))).toBe(expected);
      expectSubscriptions(value$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'cannot be starved by values that never pause',
    marbles(({ hot, expectObservable, time, scheduler }) => {
      const value$ = hot('    abcdefghijklmnopqr----|');
      const longestMs = time('------|                ');
      const quietMs = time('  --|                    ');
      const expected = '      ------g------n-----r--|';
      expectObservable(value$.pipe(debounceAtMost({ quietMs, longestMs, scheduler }))).toBe(expected);
    }),
  );

  it(
    'passes errors at once, and stops waiting when unsubscribed',
    marbles(({ hot, expectObservable, expectSubscriptions, scheduler }) => {
      const broken$ = hot(' a-#');
      const value$ = hot('  a--------');
      const unsub = '       --!';
      expectObservable(broken$.pipe(debounceAtMost({ quietMs: 5, longestMs: 50, scheduler }))).toBe('--#');
      expectObservable(value$.pipe(debounceAtMost({ quietMs: 5, longestMs: 50, scheduler })), unsub).toBe('---');
      expectSubscriptions(value$.subscriptions).toBe('^-!');
    }),
  );
});
