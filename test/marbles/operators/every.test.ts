import { describe, it } from 'vitest';
import { every } from '../../../src/streams/operators/every.js';
import { inTurn, marbles } from '../marbles.js';

describe('every', () => {
  it(
    'runs at once, and a period after the end of each run, with or without a value',
    marbles(({ cold, time, expectObservable, scheduler }) => {
      const run$ = inTurn(cold('-a-(b|)'), cold('|'), cold('(c|)'));
      const periodMs = time('      ----|');
      const expected = '-a-b-------c---';
      const unsub = '   --------------!';
      expectObservable(
        every({ periodMs, scheduler }, () => run$),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'asks for the period after each run',
    marbles(({ cold, expectObservable, scheduler }) => {
      const run$ = cold(' -(a|)');
      const expected = '  -a-a--a---a----';
      const unsub = '     --------------!';
      let periodMs = 1;
      expectObservable(
        every({ periodMs: () => (periodMs += 1) - 1, scheduler }, () => run$),
        unsub,
      ).toBe(expected);
    }),
  );

  it(
    'fails with a run, and cancels the run at an unsubscription',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      expectObservable(every({ periodMs: 3, scheduler }, () => inTurn(cold('-a#')))).toBe('-a#');
      const slow = cold('-----|');
      expectObservable(
        every({ periodMs: 3, scheduler }, () => slow),
        '--!',
      ).toBe('---');
      expectSubscriptions(slow.subscriptions).toBe('^-!');
    }),
  );
});
