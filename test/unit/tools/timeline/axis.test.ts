import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { type Axis, axisOf, positionOf, timeAt } from '../../../../src/tools/timeline/axis.js';
import { compactDuration } from '../../../../src/tools/timeline/compact-duration.js';
import { chooseFolds, type Room, tallyText } from '../../../../src/tools/timeline/fold.js';
import { exactTime, ticksOf } from '../../../../src/tools/timeline/ticks.js';
import type { Mark, Timeline } from '../../../../src/tools/timeline/lanes.js';
import { arbitraryTimeline } from './arbitrary-timeline.js';

const room: Room = { columns: 60, foldColumns: (ms) => compactDuration(ms).length + 2, leastColumns: 2 };

const at = (...times: readonly (readonly [at: number, rest?: Partial<Mark>])[]): Timeline => ({
  ...{ from: 0, until: 100_000, clock: 'since-start', breaks: [], entries: [] },
  pods: [
    {
      ref: { uid: 'u', namespace: 'n', name: 'p' },
      lanes: [
        {
          ...{ kind: 'worker', name: 'worker' },
          marks: times.map(([time, rest], index) => ({
            ...{ id: `m${index}`, at: time, look: 'event', label: '', text: '', severity: 'note', causes: [] },
            ...rest,
          })),
        },
      ],
    },
  ],
});
const routine: Partial<Mark> = { routine: 'relist', severity: 'quiet' };

describe('folding', () => {
  it.each<[string, Timeline, [number, number, string][]]>([
    [
      'folds what is quiet between two marks, and up to the end',
      at([1000], [90_000]),
      [
        [1000, 90_000, ''],
        [90_000, 100_000, ''],
      ],
    ],
    [
      'counts the routine that it folds away',
      at([1000], [2000, routine], [3000, routine], [90_000]),
      [
        [1000, 90_000, '2 relists'],
        [90_000, 100_000, ''],
      ],
    ],
    [
      'lets spans pass through',
      at([1000, { until: 90_000, look: 'running' }]),
      [
        [1000, 90_000, ''],
        [90_000, 100_000, ''],
      ],
    ],
    [
      'does not fold what is drawn short anyhow',
      at(...Array.from({ length: 50 }, (_, index) => [index * 2000] as const)),
      [],
    ],
    ['does not fold less than two seconds', { ...at([10]), until: 1900 }, []],
  ])('%s', (_, timeline, expected) => {
    const folds = chooseFolds(timeline, room);
    expect(folds.map((fold) => [fold.from, fold.until, tallyText(fold)])).toEqual(expected);
  });

  it('names one and several', () => {
    const routine = new Map([
      ['relist', 58],
      ['idle sync', 1],
      ['readiness success', 2],
    ]);
    expect(tallyText({ routine })).toBe('58 relists, 1 idle sync, 2 readiness successes');
  });
});

describe('an axis', () => {
  it('gives folds what they need and one scale to the rest', () => {
    const timeline = at([1000], [91_000]);
    const [fold] = chooseFolds(timeline, room);
    const { segments } = axisOf(timeline, [fold!], room);
    expect(segments.map(({ start, end, fold: folded }) => [start, end, folded !== undefined])).toEqual([
      [0, 7, false],
      [7, 14, true],
      [14, 60, false],
    ]);
  });

  const axisFor = (timeline: Timeline, columns: number): Axis => {
    const wide = { ...room, columns };
    return axisOf(timeline, chooseFolds(timeline, wide), wide);
  };
  const times = fc.array(fc.nat({ max: 100_000_000 }), { maxLength: 20 });

  test.prop([arbitraryTimeline, fc.integer({ min: 20, max: 3000 }), times])(
    'never goes back, and finds its way',
    (timeline, columns, instants) => {
      const axis = axisFor(timeline, columns);
      const sorted = instants.toSorted((one, other) => one - other);
      const positions = sorted.map((instant) => positionOf(axis, instant));
      expect(positions).toEqual(positions.toSorted((one, other) => one - other));
      expect(axis.segments.at(-1)?.end).toBeLessThanOrEqual(columns);
      for (const instant of sorted) expect(timeAt(axis, positionOf(axis, instant))).toBeCloseTo(instant, -1);
    },
  );

  test.prop([arbitraryTimeline, fc.integer({ min: 20, max: 3000 })])(
    'has ticks that do not touch each other',
    (timeline, columns) => {
      const axis = axisFor(timeline, columns);
      const ticks = ticksOf(timeline, axis, { characterColumns: 1, gapColumns: 2 });
      ticks.slice(1).forEach(({ position }, index) => {
        const before = ticks[index]!;
        expect(position).toBeGreaterThanOrEqual(before.position + before.label.length + 2);
      });
    },
  );
});

describe('ticks', () => {
  const labels = (timeline: Omit<Timeline, 'pods' | 'breaks' | 'entries'>, columns = 60) =>
    ticksOf(timeline, axisOf(timeline, [], { ...room, columns }), { characterColumns: 1, gapColumns: 2 }).map(
      ({ label }) => label,
    );
  it.each<[string, number, Timeline['clock'], string[]]>([
    ['milliseconds', 40, 'since-start', ['0s', '10ms', '20ms', '30ms']],
    ['seconds', 8000, 'since-start', ['0s', '2s', '4s', '6s']],
    ['minutes', 600_000, 'since-start', ['0s', '2m', '4m', '6m', '8m']],
    ['times of the day', 60_000, 'time-of-day', ['00:00:00', '00:00:10', '00:00:20', '00:00:30']],
    ['hours', 20 * 3_600_000, 'time-of-day', ['00:00', '06:00', '12:00', '18:00']],
    ['days', 9 * 86_400_000, 'time-of-day', ['1970-01-01', '1970-01-03', '1970-01-05', '1970-01-07']],
  ])('are round %s', (_, until, clock, expected) => {
    expect(labels({ from: 0, until, clock }).slice(0, expected.length)).toEqual(expected);
  });

  it('have minutes beside fractions of a second, too', () => {
    const timeline = { from: 0, until: 761_500, clock: 'since-start' } as const;
    const axis = axisOf(timeline, [{ from: 0, until: 761_000, routine: new Map() }], { ...room, columns: 60 });
    const ticks = ticksOf(timeline, axis, { characterColumns: 1, gapColumns: 2 });
    expect(ticks.map(({ label }) => label)).toEqual(expect.arrayContaining(['12m41s', '12m41.2s']));
  });

  it.each([
    ['since-start', 0, '+0.000s'],
    ['since-start', 59_999.6, '+1m0.000s'],
    ['since-start', 794_060, '+13m14.060s'],
    ['since-start', 7_200_001, '+2h0m0.001s'],
    ['time-of-day', 794_060, '00:13:14.060Z'],
  ] as const)('%s: the moment %d is %s', (clock, at, expected) => {
    expect(exactTime({ from: 0, clock }, at).trim()).toBe(expected);
  });
});

describe('a short duration', () => {
  it.each([
    [0, '0s'],
    [0.4, '0ms'],
    [999.4, '999ms'],
    [1234, '1.2s'],
    [9999, '10s'],
    [59_999, '1m'],
    [297_000, '4m57s'],
    [7_500_000, '2h5m'],
    [90_000_000, '1d1h'],
    [-1500, '-1.5s'],
  ])('of %d ms is %s', (ms, text) => expect(compactDuration(ms)).toBe(text));
});
