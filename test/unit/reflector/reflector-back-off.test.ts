import { expect, it } from 'vitest';
import { nextWait, type ReflectorBackOff, startBackOff } from '../../../src/model/reflector/reflector-back-off.js';

/** The delays when each comes right after the one before. */
const delays = (count: number, random: number): readonly number[] => {
  const found: number[] = [];
  let now = 0;
  let backOff: ReflectorBackOff = startBackOff(now);
  for (let index = 0; index < count; index++) {
    const next = nextWait(backOff, now, random);
    backOff = next.backOff;
    found.push(next.delayMs);
    now += next.delayMs;
  }
  return found;
};

it('doubles from 0.8 s to 30 s, and starts over more than two minutes after it began', () => {
  expect(delays(11, 0)).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000, 800, 1_600]);
});

it('grows by chance to less than twice as long, which does not make the next one longer', () => {
  expect(delays(4, 0.5)).toEqual([1_200, 2_400, 4_800, 9_600]);
});

it.each([
  [120_000, 1_600],
  [120_001, 800],
])('%i ms after it began it waits %i ms', (now, expected) => {
  const { backOff } = nextWait(startBackOff(0), 0, 0);
  expect(nextWait(backOff, now, 0).delayMs).toBe(expected);
});
