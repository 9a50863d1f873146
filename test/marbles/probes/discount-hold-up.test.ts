import { map, type SchedulerLike, type Subscription, tap, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ProbeErrored } from '../../../src/model/probes/probe-errored.js';
import type { ProbeOutcome } from '../../../src/model/probes/probe-outcome.js';
import { discountHoldUp } from '../../../src/streams/probes/discount-hold-up.js';
import { marbles } from '../marbles.js';

const outcomes: Record<string, ProbeOutcome> = {
  s: { result: 'success', output: '' },
  f: { result: 'failure', output: 'no answer within 5ms' },
};
/** A clock that jumps: from `at` on it is `byMs` later, as if the process had not run meanwhile. */
const heldUp = (scheduler: SchedulerLike, at: number, byMs: number): SchedulerLike => ({
  now: () => scheduler.now() + (scheduler.now() >= at ? byMs : 0),
  schedule: scheduler.schedule.bind(scheduler),
});

describe('a probe that fails', () => {
  it(
    'is a failure when it says so before its timeout',
    marbles(({ cold, expectObservable, scheduler }) => {
      const probe = cold(' ---f', outcomes);
      expectObservable(probe.pipe(discountHoldUp(5, scheduler))).toBe('---(f|)', outcomes);
    }),
  );

  it(
    'is a failure when it arrives late while the agent was not held up',
    marbles(({ cold, expectObservable, scheduler }) => {
      const probe = cold(' 500ms f', outcomes);
      expectObservable(probe.pipe(discountHoldUp(5, scheduler))).toBe('500ms (f|)', outcomes);
    }),
  );

  it(
    'counts as no failure when the timer for its timeout came late',
    marbles(({ cold, expectObservable, scheduler }) => {
      const late = 101;
      const message = `the agent was held up for ${late} ms when the timeout passed: no answer within 5ms`;
      const probe = cold('   -----f', outcomes);
      const expected = '     -----#';
      const error = new ProbeErrored(message, 'unknown');
      expectObservable(probe.pipe(discountHoldUp(5, heldUp(scheduler, 5, late)))).toBe(expected, {}, error);
      // The hold-up ends before the outcome is there.
      const slow = cold('    -------f', outcomes);
      expectObservable(slow.pipe(discountHoldUp(5, heldUp(scheduler, 5, late)))).toBe('-------#', {}, error);
    }),
  );

  it(
    'an outcome that is read before a late timer counts as no failure',
    marbles(({ hot, expectObservable, scheduler }) => {
      const probe = hot('-----f', outcomes);
      const message = 'the agent was held up for 101 ms when the timeout passed: no answer within 5ms';
      const result$ = probe.pipe(discountHoldUp(5, heldUp(scheduler, 5, 101)));
      expectObservable(result$).toBe('-----#', {}, new ProbeErrored(message, 'unknown'));
    }),
  );

  it(
    'is a failure when the timer came no later than it may',
    marbles(({ cold, expectObservable, scheduler }) => {
      const probe = cold('-----f', outcomes);
      const clock = heldUp(scheduler, 5, 100);
      expectObservable(probe.pipe(discountHoldUp(5, clock))).toBe('-----(f|)', outcomes);
    }),
  );
});

it(
  'passes a success on, however late the agent reads it',
  marbles(({ cold, expectObservable, scheduler }) => {
    const probe = cold('-----s', outcomes);
    expectObservable(probe.pipe(discountHoldUp(5, heldUp(scheduler, 5, 60_000)))).toBe('-----(s|)', outcomes);
  }),
);

it(
  'stops the probe and its timer on unsubscribe',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const probe = cold('-', outcomes);
    expectObservable(probe.pipe(discountHoldUp(5, scheduler)), '--!').toBe('-');
    expectSubscriptions(probe.subscriptions).toBe('^-!');
  }),
);

it(
  'a probe is called before the timer of its timeout is set, as recordings of earlier agents have it',
  marbles(({ expectObservable, scheduler }) => {
    const order: string[] = [];
    const schedule = (...given: Parameters<SchedulerLike['schedule']>): Subscription => {
      order.push('timer');
      return scheduler.schedule(...given);
    };
    const timers: SchedulerLike = { now: () => scheduler.now(), schedule: schedule };
    const probe$ = timer(1, scheduler).pipe(
      map(() => outcomes.s!),
      tap({ subscribe: () => order.push('probe') }),
    );
    expectObservable(probe$.pipe(discountHoldUp(1_000, timers))).toBe('-(s|)', outcomes);
    scheduler.schedule(() => expect(order).toEqual(['probe', 'timer']), 2);
  }),
);
