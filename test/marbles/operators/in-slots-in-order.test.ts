import { EMPTY, map, mergeMap, NEVER, of, throwError } from 'rxjs';
import { describe, it } from 'vitest';
import { inSlots } from '../../../src/streams/operators/in-slots.js';
import { marbles } from '../marbles.js';

describe('slots in order of arrival', () => {
  it(
    'one at a time runs one after the other, in the order in which they came',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const turn = inSlots({ count: 1 });
      const came = hot('     abc------|      ');
      const work = cold('    ---(r|)         ');
      const expected = '     ---a--b--(c|)   ';
      const runs = ['        ^--!            ', '---^--!', '------^--!'];
      const done$ = came.pipe(
        mergeMap((name) =>
          work.pipe(
            map(() => name),
            turn(),
          ),
        ),
      );
      expectObservable(done$).toBe(expected);
      expectSubscriptions(work.subscriptions).toBe(runs);
    }),
  );

  it(
    'two at a time lets the third begin when one of them ends, whichever it is',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const turn = inSlots({ count: 2 });
      const slow = cold('      ------(s|)    ');
      const quick = cold('     --(q|)        ');
      const third = cold('     --(t|)        ');
      expectObservable(slow.pipe(turn())).toBe('------(s|)');
      expectObservable(quick.pipe(turn())).toBe('--(q|)');
      expectObservable(third.pipe(turn())).toBe('----(t|)');
      expectSubscriptions(third.subscriptions).toBe('--^-!');
    }),
  );

  it(
    'who leaves while it waits is not run, and those behind it move up',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const turn = inSlots({ count: 1 });
      const [first, second, third] = ['----(1|)', '-(2|)', '-(3|)'].map((run) => cold(run));
      expectObservable(first!.pipe(turn())).toBe('----(1|)');
      expectObservable(second!.pipe(turn()), '^-!').toBe('---');
      expectObservable(third!.pipe(turn())).toBe('-----(3|)');
      expectSubscriptions(second!.subscriptions).toBe([]);
      expectSubscriptions(third!.subscriptions).toBe('----^!');
    }),
  );

  it(
    'who leaves while it runs makes room at once',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const turn = inSlots({ count: 1 });
      const [hangs, next] = [cold('-'), cold('-(n|)')];
      expectObservable(hangs.pipe(turn()), '^--!').toBe('----');
      expectObservable(next.pipe(turn())).toBe('----(n|)');
      expectSubscriptions(hangs.subscriptions).toBe('^--!');
      expectSubscriptions(next.subscriptions).toBe('---^!');
    }),
  );

  it(
    'one that fails makes room, too',
    marbles(({ cold, expectObservable }) => {
      const turn = inSlots({ count: 1 });
      expectObservable(cold('--#').pipe(turn())).toBe('--#');
      expectObservable(cold('-(n|)').pipe(turn())).toBe('---(n|)');
      expectObservable(throwError(() => 'error').pipe(turn())).toBe('---#');
      expectObservable(EMPTY.pipe(turn())).toBe('---|');
      expectObservable(of('x').pipe(turn())).toBe('---(x|)');
    }),
  );

  it(
    'without a limit no source waits',
    marbles(({ cold, expectObservable }) => {
      const turn = inSlots({ count: Infinity });
      for (let count = 0; count < 100; count += 1) expectObservable(NEVER.pipe(turn()), '^-!').toBe('--');
      expectObservable(cold('-(n|)').pipe(turn())).toBe('-(n|)');
    }),
  );
});
