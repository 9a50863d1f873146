import { it } from 'vitest';
import { CHECK_EVERY_MS, UNIT_WAIT_MS } from '../../../src/host/cgroups/systemd-cgroups.js';
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
  'fails when it is too late, also during a check',
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
  'looks at a unit of systemd every 50 ms, for 30 s at most',
  marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
    const look = cold('(n|)', { n: false });
    const result$ = untilTrue(() => look, { everyMs: CHECK_EVERY_MS, withinMs: UNIT_WAIT_MS, tooLate, scheduler });
    expectObservable(result$).toBe('30s #', undefined, tooLate());
    expectSubscriptions(look.subscriptions).toBe(Array.from({ length: 600 }, (_, index) => `${index * 50}ms (^!)`));
  }),
);

it(
  'fails with a failed check',
  marbles(({ cold, scheduler, expectObservable }) => {
    const result$ = untilTrue(() => cold<boolean>('--#'), { everyMs: 1, withinMs: 10, tooLate, scheduler });
    expectObservable(result$).toBe('--#');
  }),
);
