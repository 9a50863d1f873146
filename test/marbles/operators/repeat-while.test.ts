import { it } from 'vitest';
import { repeatWhile } from '../../../src/streams/operators/repeat-while.js';
import { marbles } from '../marbles.js';

it(
  'subscribes again as long as there is more, and passes an error',
  marbles(({ cold, expectObservable, expectSubscriptions }) => {
    let left = 2;
    const source = cold('  -a|       ');
    const expected = '     -a-a-a|   ';
    const runs = ['        ^-!       ', '--^-!', '----^-!'];
    expectObservable(source.pipe(repeatWhile(() => left-- > 0))).toBe(expected);
    expectSubscriptions(source.subscriptions).toBe(runs);
    expectObservable(cold('-a|').pipe(repeatWhile(() => false))).toBe('-a|');
    expectObservable(cold('-#').pipe(repeatWhile(() => true))).toBe('-#');
  }),
);
