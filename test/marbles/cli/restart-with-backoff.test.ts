import { it } from 'vitest';
import { restartWithBackoff } from '../../../src/cli/runtime/restart-with-backoff.js';
import { inTurn, marbles } from '../marbles.js';

const failed = (retryInMs: number) => ({ kind: 'failed' as const, problem: 'gone', retryInMs });
const gone = new Error('gone');

it(
  'says each failure and doubles its delay up to the limit',
  marbles(({ cold, expectObservable, scheduler }) => {
    const broken = cold('#', {}, gone);
    const run$ = inTurn(broken, broken, broken, broken, cold('r'));
    //                a at 0, b at 10, c at 30, c at 70, r at 110
    const expected = 'a 9ms b 19ms c 39ms c 39ms r';
    const unsub = '   115ms !';
    expectObservable(run$.pipe(restartWithBackoff({ initialMs: 10, maxMs: 40, scheduler })), unsub).toBe(expected, {
      a: failed(10),
      b: failed(20),
      c: failed(40),
      r: 'r',
    });
  }),
);

it(
  'starts over after a healthy run, and not after a short one',
  marbles(({ cold, expectObservable, scheduler }) => {
    const run$ = inTurn(
      cold('#', {}, gone),
      cold('r 78ms #', { r: 'r' }, gone),
      cold('r 79ms #', { r: 'r' }, gone),
      cold('r'),
    );
    const expected = 'a 9ms r 78ms b 19ms r 79ms a 9ms r';
    const unsub = '   250ms !';
    expectObservable(run$.pipe(restartWithBackoff({ initialMs: 10, maxMs: 40, scheduler })), unsub).toBe(expected, {
      a: failed(10),
      b: failed(20),
      r: 'r',
    });
  }),
);

it(
  'stops for good when it is unsubscribed during a delay',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const broken = cold('--#', {}, gone);
    const unsub = '      ------!';
    const expected = '   --a----';
    expectObservable(broken.pipe(restartWithBackoff({ initialMs: 10, maxMs: 40, scheduler })), unsub).toBe(expected, {
      a: failed(10),
    });
    expectSubscriptions(broken.subscriptions).toBe('^-!');
  }),
);
