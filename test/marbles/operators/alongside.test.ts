import { describe, it } from 'vitest';
import { alongside } from '../../../src/streams/operators/alongside.js';
import { marbles } from '../marbles.js';

describe('alongside', () => {
  it.each([
    ['goes on until the source ends', '-a-b|', 'x-x-x-x', '-a-b|', '^---!'],
    ['goes on until the source fails', '-a-b#', 'x-x-x-x', '-a-b#', '^---!'],
    ['may end before the source', '----a|', 'x-|', '----a|', '^-!'],
    ['may fail, and the source is cancelled', '----a|', '--#', '--#', '^-!'],
  ])('the companion %s', (_, work, companion, expected, subscribed) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const companion$ = cold(companion);
      expectObservable(cold(work).pipe(alongside(companion$))).toBe(expected);
      expectSubscriptions(companion$.subscriptions).toBe(subscribed);
    })();
  });

  it(
    'an unsubscription cancels both',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const [source$, companion$] = [cold('-a---'), cold('x-x-x')];
      expectObservable(source$.pipe(alongside(companion$)), '--!').toBe('-a-');
      expectSubscriptions(source$.subscriptions).toBe('^-!');
      expectSubscriptions(companion$.subscriptions).toBe('^-!');
    }),
  );
});
