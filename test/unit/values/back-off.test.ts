import { describe, expect, it } from 'vitest';
import {
  advance,
  type BackOffEntry,
  failuresInRow,
  isBlocked,
  nextDelay,
  stepOf,
} from '../../../src/model/values/back-off.js';

const table = { initialMs: 10, maxMs: 300, resetAfterMs: 600 };

describe('advance', () => {
  it.each<[row: string, entry: BackOffEntry | undefined, eventAt: number, delayMs: number]>([
    ['the first time', undefined, 1000, 10],
    ['again', { delayMs: 10, lastUpdate: 900 }, 1000, 20],
    ['up to the limit', { delayMs: 160, lastUpdate: 900 }, 1000, 300],
    ['at the limit', { delayMs: 300, lastUpdate: 900 }, 1000, 300],
    ['after exactly the reset period', { delayMs: 300, lastUpdate: 400 }, 1000, 300],
    ['after more than the reset period', { delayMs: 300, lastUpdate: 399 }, 1000, 10],
  ])('%s', (_, entry, eventAt, delayMs) => {
    expect(advance(entry, { eventAt, now: 1007, table })).toEqual({ delayMs, lastUpdate: 1007 });
  });

  it('begins at the limit when that is shorter than the first delay', () => {
    expect(advance(undefined, { eventAt: 0, now: 0, table: { ...table, maxMs: 4 } }).delayMs).toBe(4);
  });
});

describe('isBlocked', () => {
  it.each<[row: string, entry: BackOffEntry | undefined, since: number, now: number, blocked: boolean]>([
    ['no entry', undefined, 1000, 1000, false],
    ['during the delay', { delayMs: 20, lastUpdate: 990 }, 1000, 1019, true],
    ['when the delay is over', { delayMs: 20, lastUpdate: 990 }, 1000, 1020, false],
    ['an entry too old for what happened', { delayMs: 20, lastUpdate: 399 }, 1000, 1001, false],
  ])('%s', (_, entry, since, now, blocked) => {
    expect(isBlocked(entry, { since, now, table })).toBe(blocked);
  });
});

it('counts the steps of the table', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map((step) => nextDelay(table, step))).toEqual([10, 20, 40, 80, 160, 300, 300]);
  expect([10, 20, 40, 80, 160, 300].map((delayMs) => stepOf(delayMs, table))).toEqual(
    [1, 2, 3, 4, 5, 6].map((step) => ({ step, steps: 6 })),
  );
  expect(stepOf(4, { ...table, maxMs: 4 })).toEqual({ step: 1, steps: 1 });
});

describe('nextDelay', () => {
  it.each<[row: string, backoff: Parameters<typeof nextDelay>[0], failures: number, draw: number, delayMs: number]>([
    ['the first', { initialMs: 10, maxMs: 300 }, 1, 0, 10],
    ['doubles', { initialMs: 10, maxMs: 300 }, 3, 0, 40],
    ['grows by the factor', { initialMs: 10, maxMs: 300, factor: 1.5 }, 3, 0, 22.5],
    ['up to the maximum', { initialMs: 10, maxMs: 300 }, 6, 0, 300],
    ['after any number of failures', { initialMs: 0, maxMs: 300 }, 10_000, 0, 0],
    ['no longer by chance without jitter', { initialMs: 10, maxMs: 300 }, 1, 0.9, 10],
    ['longer by chance', { initialMs: 10, maxMs: 300, jitter: 0.5 }, 2, 0.5, 25],
    ['longer than the maximum by chance', { initialMs: 10, maxMs: 300, jitter: 0.5 }, 9, 0.5, 375],
  ])('%s', (_, backoff, failures, draw, delayMs) => {
    expect(nextDelay(backoff, failures, draw)).toBe(delayMs);
  });
});

it.each([
  [{ initialMs: 1, maxMs: 9, resetAfterMs: 20 }, 3, 19, 4],
  [{ initialMs: 1, maxMs: 9, resetAfterMs: 20 }, 3, 20, 1],
  [{ initialMs: 1, maxMs: 9 }, 3, 1_000_000, 4],
  [{ initialMs: 1, maxMs: 9, resetAfterMs: 20 }, 0, 0, 1],
])(
  'with %j, %i failures and a quiet time of %i ms the next failure is number %i',
  (backoff, before, quietMs, expected) => {
    expect(failuresInRow(backoff, before, quietMs)).toBe(expected);
  },
);
