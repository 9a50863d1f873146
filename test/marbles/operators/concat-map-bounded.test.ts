import { map, NEVER, of, timer } from 'rxjs';
import { expect, it } from 'vitest';
import { concatMapBounded } from '../../../src/streams/operators/concat-map-bounded.js';
import { marbles } from '../marbles.js';

it(
  'works on one value after the other, lets as many wait as it may, and drops the rest',
  marbles(({ hot, time, expectObservable, scheduler }) => {
    const value$ = hot('  ab-cd---e--------f-|');
    const run = time('    ----|               ');
    const expected = '    ----a---b---c---e----(f|)';
    //                    d comes while a runs and b and c wait; e comes when only c waits
    const dropped: string[] = [];
    const result$ = value$.pipe(
      concatMapBounded((value) => timer(run).pipe(map(() => value)), {
        limit: 2,
        onDrop: (value) => dropped.push(`${scheduler.now()} ${value}`),
      }),
    );
    expectObservable(result$).toBe(expected);
    scheduler.schedule(() => expect(dropped).toEqual(['4 d']), 30);
  }),
);

it(
  'works on values that come at the same time in their order',
  marbles(({ expectObservable }) => {
    const dropped: number[] = [];
    const result$ = of(1, 2, 3).pipe(
      concatMapBounded((value) => of(value), { limit: 0, onDrop: (value) => dropped.push(value) }),
    );
    expectObservable(result$).toBe('(abc|)', { a: 1, b: 2, c: 3 });
  }),
);

it(
  'counts each subscription for itself',
  marbles(({ cold, expectObservable, scheduler }) => {
    const dropped: string[] = [];
    const result$ = cold('ab').pipe(
      concatMapBounded(() => NEVER, { limit: 1, onDrop: (value) => dropped.push(value) }),
    );
    expectObservable(result$, '---!').toBe('---');
    expectObservable(result$, '---!').toBe('---');
    scheduler.schedule(() => expect(dropped).toEqual([]), 5);
  }),
);

it(
  'ends with an error of a run',
  marbles(({ hot, expectObservable }) => {
    const result$ = hot('a').pipe(
      concatMapBounded(
        () => {
          throw new Error('broken');
        },
        { limit: 1, onDrop: () => undefined },
      ),
    );
    expectObservable(result$).toBe('#', undefined, new Error('broken'));
  }),
);
