import { describe, expect, it } from 'vitest';
import { tapIfSlow } from '../../../src/streams/operators/tap-if-slow.js';
import { marbles } from '../marbles.js';

describe('tapIfSlow', () => {
  it.each([
    { case: 'ends in time', source: '-a-|', expected: '-a-|', late: [] },
    { case: 'fails in time', source: '-a-#', expected: '-a-#', late: [] },
    { case: 'ends late', source: '-a----b--|', expected: '-a----b--|', late: [5] },
    { case: 'never ends', source: '-a---------', expected: '-a--------', late: [5] },
  ])('calls the function for a source that $case: $late', ({ source, expected, late }) => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const told: number[] = [];
      const source$ = cold(source);
      const watched$ = source$.pipe(tapIfSlow(5, () => told.push(scheduler.now()), scheduler));
      expectObservable(watched$, '----------!').toBe(expected);
      flush();
      expect(told).toEqual(late);
    })();
  });

  it(
    'does not call it for a source that was cancelled',
    marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
      const told: number[] = [];
      const source$ = cold('-----------');
      expectObservable(source$.pipe(tapIfSlow(5, () => told.push(scheduler.now()), scheduler)), '--!').toBe('-');
      flush();
      expectSubscriptions(source$.subscriptions).toBe('^-!');
      expect(told).toEqual([]);
    }),
  );
});
