import { fc, test } from '@fast-check/vitest';
import { expect, it } from 'vitest';
import { reserveToken, takeToken, type TokenBucket } from '../../../src/model/values/token-bucket.js';

/** Which of the attempts at these times (ms) get a token. */
const taken = (times: readonly number[], perSecond: number, burst: number): number[] => {
  let bucket: TokenBucket | undefined;
  return times.filter((now) => {
    const result = takeToken(bucket, now, { perSecond, burst });
    bucket = result.bucket;
    return result.isTaken;
  });
};

it.each([
  { times: [0, 0, 0, 0], perSecond: 5, burst: 3, expected: [0, 0, 0] },
  { times: [0, 0, 199, 200, 200, 399, 400], perSecond: 5, burst: 2, expected: [0, 0, 200, 400] },
  { times: [0, 0, 60_000, 60_000, 60_000], perSecond: 5, burst: 2, expected: [0, 0, 60_000, 60_000] },
  { times: [0, 1_000], perSecond: 5, burst: 0, expected: [] },
])('of $times, $perSecond a second after $burst, $expected go', ({ times, perSecond, burst, expected }) => {
  expect(taken(times, perSecond, burst)).toEqual(expected);
});

test.prop([fc.array(fc.nat(5_000)), fc.integer({ min: 1, max: 20 }), fc.nat(20)])(
  'never more go than the burst and what has come since',
  (gaps, perSecond, burst) => {
    const times = gaps.map((_, index) => gaps.slice(0, index).reduce((sum, gap) => sum + gap, 0));
    const most = burst + ((times.at(-1) ?? 0) / 1_000) * perSecond;
    expect(taken(times, perSecond, burst).length).toBeLessThanOrEqual(most + 1e-6);
  },
);

test.prop([fc.array(fc.nat(5_000)), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 })])(
  'who reserves is served in order, never more than the burst and what has come since, and never later than need be',
  (gaps, perSecond, burst) => {
    let bucket: TokenBucket | undefined;
    let now = 0;
    const served = gaps.map((gap) => {
      now += gap;
      const reserved = reserveToken(bucket, now, { perSecond, burst });
      bucket = reserved.bucket;
      return { at: now, servedAt: now + reserved.waitMs };
    });
    served.forEach(({ at, servedAt }, index) => {
      expect(servedAt).toBeGreaterThanOrEqual(served[index - 1]?.servedAt ?? 0);
      // A waiting caller is served a token's time after the one before, and as many as the burst before that one were not.
      const previous = served[index - 1]?.servedAt;
      if (servedAt > at) expect(servedAt - previous!).toBeLessThanOrEqual(1_000 / perSecond + 1e-6);
      const earlier = served[index - burst - 1];
      if (earlier) expect(servedAt - earlier.servedAt).toBeGreaterThanOrEqual(1_000 / perSecond - 1e-6);
    });
  },
);
