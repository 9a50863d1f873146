import { it } from 'vitest';
import { untilTrue } from '../../../src/streams/operators/until-true.js';
import { inTurn, marbles } from '../marbles.js';

const tooLate = () => new Error('too late');

it(
  'looks at once, then a while after each look has ended, and completes when it is so',
  marbles(({ cold, time, scheduler, expectObservable }) => {
    const look = inTurn(cold('--(n|)', { n: false }), cold('(n|)', { n: false }), cold('-(y|)', { y: true }));
    const everyMs = time('     ----|       ');
    const expected = '     -----------|';
    expectObservable(untilTrue(() => look, { everyMs, withinMs: 100, tooLate, scheduler })).toBe(expected);
  }),
);

it(
  'gives up when it is too late, also in the middle of a look',
  marbles(({ cold, time, scheduler, expectObservable, expectSubscriptions }) => {
    const slow = cold('     ----------(n|)', { n: false });
    const withinMs = time('-----|         ');
    const expected = '     -----#         ';
    const subscribed = '   ^----!         ';
    const result$ = untilTrue(() => slow, { everyMs: 1, withinMs, tooLate, scheduler });
    expectObservable(result$).toBe(expected, undefined, tooLate());
    expectSubscriptions(slow.subscriptions).toBe(subscribed);
  }),
);

it(
  'fails with a look that fails',
  marbles(({ cold, scheduler, expectObservable }) => {
    const result$ = untilTrue(() => cold<boolean>('--#'), { everyMs: 1, withinMs: 10, tooLate, scheduler });
    expectObservable(result$).toBe('--#');
  }),
);
