import { tap } from 'rxjs';
import { it } from 'vitest';
import { forwardEnd } from '../../../src/server/streaming/forward-end.js';
import { marbles } from '../marbles.js';

it(
  'a port-forward ends with the change after which its pod has ended, once, and no further change is followed',
  marbles(({ hot, expectObservable, expectSubscriptions }) => {
    let seen = 0;
    const change$ = hot(' -a-a-a-a-');
    const expected = '    -----(e|)';
    const following = '   ^----!';
    const counted$ = change$.pipe(tap(() => (seen += 1)));
    const end$ = forwardEnd(counted$, () => seen === 3);
    expectObservable(end$).toBe(expected, { e: 'pod-ended' });
    expectSubscriptions(change$.subscriptions).toBe(following);
  }),
);

it(
  'a port-forward whose pod has ended before the first change ends at once',
  marbles(({ cold, expectObservable }) => {
    expectObservable(forwardEnd(cold('---a'), () => true)).toBe('(e|)', { e: 'pod-ended' });
  }),
);

it(
  'a port-forward whose client leaves follows no change any more',
  marbles(({ hot, expectObservable, expectSubscriptions }) => {
    const change$ = hot('-a-a-a-');
    const unsub = '      ---!   ';
    expectObservable(
      forwardEnd(change$, () => false),
      unsub,
    ).toBe('');
    expectSubscriptions(change$.subscriptions).toBe('^--!');
  }),
);
