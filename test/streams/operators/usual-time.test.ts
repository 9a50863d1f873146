import { expect, it } from 'vitest';
import { UsualTime } from '../../../src/streams/operators/usual-time.js';

/** Whole milliseconds of patience after these calls. */
const patienceAfter = (...calls: readonly number[]): number => {
  const usual = new UsualTime();
  for (const ms of calls) usual.add(ms);
  return Math.round(usual.patienceMs);
};
const times = (count: number, ms: number): readonly number[] => Array.from({ length: count }, () => ms);

it.each([
  { what: 'before anything is known: a second', calls: [], patience: 1_000 },
  { what: 'with quick calls: a second still', calls: times(50, 30), patience: 1_000 },
  { what: 'after one call of 2 s: three times as long', calls: [2_000], patience: 6_000 },
  { what: 'with calls of 2 s: twice as long', calls: times(50, 2_000), patience: 4_000 },
  {
    what: 'with calls of 1 and 3 s by turns: about the mean and four deviations',
    calls: Array.from({ length: 100 }, (_, index) => (index % 2 ? 1_000 : 3_000)),
    patience: 6_200,
  },
  {
    what: 'after one of four minutes among those of 2 s: hardly longer',
    calls: [...times(50, 2_000), 240_000],
    patience: 8_750,
  },
  {
    what: 'once they take 10 s instead of 2: it follows',
    calls: [...times(50, 2_000), ...times(50, 10_000)],
    patience: 19_979,
  },
])('patience, $what', ({ calls, patience }) => {
  expect(patienceAfter(...calls)).toBe(patience);
});
