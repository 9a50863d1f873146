import { from, mergeMap, of, range, toArray } from 'rxjs';
import { describe, it } from 'vitest';
import { inSlots } from '../../../src/streams/operators/in-slots.js';
import { marbles } from '../marbles.js';

describe('inSlots', () => {
  it(
    'runs `count` side by side, and the others in their order as slots become free',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const inSlot = inSlots({ count: 2, longestMs: 100, scheduler });
      const a = cold('       -----a|      ');
      const b = cold('       --b|         ');
      const c = cold('          ----c---| ');
      const d = cold('             -d|    ');
      const expected = '     --b--a-(cd)|';
      const work$ = from([a, b, c, d]).pipe(mergeMap((work) => work.pipe(inSlot())));
      expectObservable(work$).toBe(expected);
      expectSubscriptions(a.subscriptions).toBe('^-----!');
      expectSubscriptions(b.subscriptions).toBe('^--!');
      expectSubscriptions(c.subscriptions).toBe('---^-------!');
      expectSubscriptions(d.subscriptions).toBe('------^-!');
    }),
  );

  it(
    'gives the slot of one that takes too long to the next, and lets it go on',
    marbles(({ cold, time, expectObservable, expectSubscriptions, scheduler }) => {
      const longestMs = time('---|        ');
      const slow = cold('     ---------s| ');
      const quick = cold('       --q|     ');
      const expected = '      -----q---s| ';
      const inSlot = inSlots({ count: 1, longestMs, scheduler });
      expectObservable(from([slow, quick]).pipe(mergeMap((work) => work.pipe(inSlot())))).toBe(expected);
      expectSubscriptions(slow.subscriptions).toBe('^---------!');
      expectSubscriptions(quick.subscriptions).toBe('---^--!');
    }),
  );

  it(
    'frees the slot when its holder fails or is given up, and forgets who is given up while waiting',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const inSlot = inSlots({ count: 1, longestMs: 100, scheduler });
      const failing = cold('  --#       ');
      const hanging = cold('    --------');
      const givenUp = cold('        ----');
      const last = cold('           --l|');
      expectObservable(failing.pipe(inSlot())).toBe('--#');
      expectObservable(hanging.pipe(inSlot()), '      ------!').toBe('-');
      expectObservable(givenUp.pipe(inSlot()), '      ----!').toBe('-');
      expectObservable(last.pipe(inSlot())).toBe('    --------l|');
      expectSubscriptions(hanging.subscriptions).toBe('--^---!');
      expectSubscriptions(givenUp.subscriptions).toBe([]);
      expectSubscriptions(last.subscriptions).toBe('  ------^--!');
    }),
  );

  it(
    'is not too deep for many that end at once',
    marbles(({ expectObservable, scheduler }) => {
      const inSlot = inSlots({ count: 1, longestMs: 100, scheduler });
      const all$ = range(0, 20_000).pipe(
        mergeMap((number) => of(number).pipe(inSlot())),
        toArray(),
        mergeMap(({ length }) => of(length)),
      );
      expectObservable(all$).toBe('(n|)', { n: 20_000 });
    }),
  );
});
