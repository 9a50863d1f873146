import { it } from 'vitest';
import { retryWithBackoff } from '../../../src/streams/operators/retry-with-backoff.js';
import { inTurn, marbles } from '../marbles.js';

it(
  'doubles its delay up to the limit, and starts over after a healthy run',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const broken = cold<string>('#');
    const attempt$ = inTurn(broken, broken, broken, broken, cold<string>('80ms #'), cold<string>('r'));
    expectObservable(attempt$.pipe(retryWithBackoff({ initialMs: 10, maxMs: 40, scheduler })), '250ms !').toBe(
      '200ms r',
    );
    expectSubscriptions(broken.subscriptions).toBe(['(^!)', '10ms (^!)', '30ms (^!)', '70ms (^!)']);
  }),
);

it(
  'ends with its source, and stops waiting when it is left',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const timing = { initialMs: 10, maxMs: 40, scheduler };
    expectObservable(cold('a-b|').pipe(retryWithBackoff(timing))).toBe('a-b|');
    const broken = cold<string>('-#');
    expectObservable(broken.pipe(retryWithBackoff(timing)), '-----!').toBe('------');
    expectSubscriptions(broken.subscriptions).toBe('^!');
  }),
);
