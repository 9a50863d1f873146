import { describe, expect, it } from 'vitest';
import { tapLate } from '../../../src/streams/operators/tap-late.js';
import { marbles } from '../marbles.js';

describe('tapLate', () => {
  it.each([
    { case: 'ends in time', source: '-a-|', expected: '-a-|', late: [] },
    { case: 'fails in time', source: '-a-#', expected: '-a-#', late: [] },
    { case: 'ends late', source: '-a----b--|', expected: '-a----b--|', late: [5] },
    { case: 'never ends', source: '-a---------', expected: '-a--------', late: [5] },
  ])('is told of a source that $case: $late', ({ source, expected, late }) => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const told: number[] = [];
      const source$ = cold(source);
      const watched$ = source$.pipe(tapLate(5, () => told.push(scheduler.now()), scheduler));
      expectObservable(watched$, '----------!').toBe(expected);
      flush();
      expect(told).toEqual(late);
    })();
  });

  it(
    'is not told of a source that was given up',
    marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
      const told: number[] = [];
      const source$ = cold('-----------');
      expectObservable(source$.pipe(tapLate(5, () => told.push(scheduler.now()), scheduler)), '--!').toBe('-');
      flush();
      expectSubscriptions(source$.subscriptions).toBe('^-!');
      expect(told).toEqual([]);
    }),
  );
});
