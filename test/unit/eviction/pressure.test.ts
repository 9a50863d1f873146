import { expect, it } from 'vitest';
import type { SignalObservations } from '../../../src/model/eviction/figures.js';
import { judgePressure, NO_PRESSURE_MEMORY } from '../../../src/model/eviction/pressure.js';
import type { Threshold } from '../../../src/model/eviction/thresholds.js';
import { disk, memory, memoryBelow } from '../../support/eviction-parts.js';

const TRANSITION_MS = 300_000;

/** What each check finds, as `<seconds> <conditions> / <signals that are due>`. */
const checks = (
  thresholds: readonly Threshold[],
  observations: readonly (readonly [seconds: number, SignalObservations])[],
) => {
  let before = NO_PRESSURE_MEMORY;
  return observations.map(([seconds, observed]) => {
    const verdict = judgePressure(before, {
      thresholds,
      observations: observed,
      now: seconds * 1_000,
      transitionMs: TRANSITION_MS,
    });
    before = verdict.memory;
    const conditions = Object.entries(verdict.pressure).flatMap(([kind, isShort]) => (isShort ? [kind] : []));
    return `${seconds} ${conditions.join(',')} / ${verdict.due.map(({ signal }) => signal).join(',')}`;
  });
};
const at = (seconds: number, mebibytes: number) => [seconds, memory(mebibytes, seconds * 1_000)] as const;

it('a hard threshold is due at once, and its condition stays for the transition period after it', () => {
  const seen = checks([memoryBelow(100)], [at(0, 100), at(10, 99), at(20, 200), at(309, 200), at(310, 200)]);
  expect(seen).toEqual(['0  / ', '10 memory / memory.available', '20 memory / ', '309 memory / ', '310  / ']);
});

it('a soft threshold raises its condition at once, and is due after its grace period without a break', () => {
  const soft = memoryBelow(100, { gracePeriodMs: 30_000 });
  const seen = checks([soft], [at(0, 50), at(20, 50), at(25, 150), at(30, 50), at(59, 50), at(60, 50)]);
  expect(seen).toEqual([
    '0 memory / ',
    '20 memory / ',
    '25 memory / ',
    '30 memory / ',
    '59 memory / ',
    '60 memory / memory.available',
  ]);
});

it('a threshold that was due stays so until its minimum reclaim is available, too, and one that was not does not', () => {
  const minReclaim = memoryBelow(20).value;
  const seen = checks(
    [memoryBelow(100, { minReclaim })],
    [at(0, 110), at(10, 99), at(20, 119), at(30, 120), at(40, 119)],
  );
  expect(seen.map((each) => each.endsWith('memory.available'))).toEqual([false, true, true, false, false]);
});

it('a threshold is not due again by the same observation', () => {
  const seen = checks(
    [memoryBelow(100)],
    [
      [0, memory(50, 7)],
      [10, memory(50, 7)],
      [20, memory(50, 8)],
    ],
  );
  expect(seen).toEqual(['0 memory / memory.available', '10 memory / ', '20 memory / memory.available']);
});

it('a threshold is due by an observation from before, as after the clock of the node was set back', () => {
  const seen = checks(
    [memoryBelow(100)],
    [
      [0, memory(50, 7_000)],
      [10, memory(50, 3)],
    ],
  );
  expect(seen).toEqual(['0 memory / memory.available', '10 memory / memory.available']);
});

it('a signal that cannot be measured meets no threshold, and each resource has its own condition', () => {
  const thresholds: readonly Threshold[] = [
    memoryBelow(100),
    { signal: 'nodefs.inodesFree', value: { share: 0.05 }, gracePeriodMs: 0 },
    { signal: 'pid.available', value: { amount: 10, format: 'DecimalSI' }, gracePeriodMs: 0 },
  ];
  const pids = { 'pid.available': { available: 9, capacity: 100, timeMs: 0 } };
  expect(checks(thresholds, [[0, {}]])).toEqual(['0  / ']);
  expect(checks(thresholds, [[0, disk(1_000, 4)]])).toEqual(['0 disk / nodefs.inodesFree']);
  expect(checks(thresholds, [[0, disk(1_000, 5)]])).toEqual(['0  / ']);
  expect(checks(thresholds, [[0, { ...memory(1), ...pids }]])).toEqual([
    '0 memory,pid / memory.available,pid.available',
  ]);
});
