import { describe, it } from 'vitest';
import { SAMPLES_APART_MS, twoSamples } from '../../../src/streams/stats/two-samples.js';
import { inTurn, marbles } from '../marbles.js';

describe('twoSamples', () => {
  it(
    'reads again a second after the first sample has arrived',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const reads = [cold('--(a|)'), cold('---(b|)')] as const;
      const expected = `  -- ${SAMPLES_APART_MS}ms ---(s|)`;
      const read$ = inTurn(...reads);
      expectObservable(twoSamples(() => read$, scheduler)).toBe(expected, { s: ['a', 'b'] });
      expectSubscriptions(reads[0].subscriptions).toBe('^-!');
      expectSubscriptions(reads[1].subscriptions).toBe(`-- ${SAMPLES_APART_MS}ms ^--!`);
    }),
  );

  it(
    'fails with a read',
    marbles(({ cold, expectObservable, scheduler }) => {
      expectObservable(twoSamples(() => cold('-#'), scheduler)).toBe('-#');
    }),
  );
});
