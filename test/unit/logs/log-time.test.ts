import { describe, expect, it } from 'vitest';
import { logInstant, logTimestamp, sinceInstant } from '../../../src/model/logs/log-time.js';

const NOON = BigInt(Date.UTC(2026, 0, 31, 12)) * 1_000_000n;

describe('the time of a line', () => {
  it.each([
    ['2026-01-31T12:00:00Z', 0n, '2026-01-31T12:00:00.000000000Z'],
    ['2026-01-31T12:00:00.5Z', 500_000_000n, '2026-01-31T12:00:00.500000000Z'],
    ['2026-01-31T12:00:00.000000001Z', 1n, '2026-01-31T12:00:00.000000001Z'],
    ['2026-01-31T12:00:00.0000000019Z', 1n, '2026-01-31T12:00:00.000000001Z'],
    ['2026-01-31T14:00:00.25+02:00', 250_000_000n, '2026-01-31T14:00:00.250000000+02:00'],
    ['2026-01-31T12:00:00+00:00', 0n, '2026-01-31T12:00:00.000000000Z'],
  ])('%s is exact to a nanosecond, and keeps its zone', (text, nanos, printed) => {
    expect(logInstant(text)).toBe(NOON + nanos);
    expect(logTimestamp(text)).toBe(printed);
  });

  it.each([
    '',
    'now',
    '2026-01-31',
    '2026-13-01T12:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31 12:00:00Z',
    '2026-01-31T12:00:00+99:00',
  ])('is not %j', (text) => {
    expect(logInstant(text)).toBeUndefined();
  });
});

describe('the oldest wanted time', () => {
  const now = Number(NOON / 1_000_000n);

  it.each([
    [{}, undefined],
    [{ sinceSeconds: 60 }, NOON - 60_000_000_000n],
    [{ sinceTime: '2026-01-31T11:59:59.999999999Z' }, NOON - 1n],
  ])('of %j', (options, expected) => {
    expect(sinceInstant(options, now)).toBe(expected);
  });
});
