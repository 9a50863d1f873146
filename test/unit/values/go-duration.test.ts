import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { formatGoDuration, parseGoDuration } from '../../../src/model/values/go-duration.js';

describe('formatGoDuration', () => {
  it.each([
    [0, '0s'],
    [10_000, '10s'],
    [40_000, '40s'],
    [80_000, '1m20s'],
    [160_000, '2m40s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
    [3_723_500, '1h2m3.5s'],
    [1_500, '1.5s'],
    [300, '300ms'],
    [1.5, '1.5ms'],
    [0.25, '250µs'],
    [0.000_007, '7ns'],
    [-80_000, '-1m20s'],
  ])('%d ms: %s', (milliseconds, text) => {
    expect(formatGoDuration(milliseconds)).toBe(text);
  });
});

describe('parseGoDuration', () => {
  it.each([
    ['0', 0],
    ['10s', 10_000],
    ['5m', 300_000],
    ['5m0s', 300_000],
    ['1h2m3.5s', 3_723_500],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['100ms', 100],
    ['250us', 0.25],
    ['250µs', 0.25],
    ['7ns', 0.000_007],
    ['-2s', -2_000],
    ['+2s', 2_000],
    ['2562047h', 9_223_369_200_000],
  ])('%s: %d ms', (text, milliseconds) => {
    expect(parseGoDuration(text)).toBe(milliseconds);
  });

  it.each(['', '5', 's', '5 s', '5d', '.s', '1m-2s', '5sec', '1e3s', '2562048h', '-2562048h'])(
    '%j is no duration',
    (text) => {
      expect(parseGoDuration(text)).toBeUndefined();
    },
  );
});

test.prop([fc.integer({ min: -1e12, max: 1e12 })])('reads back what it prints', (milliseconds) => {
  expect(parseGoDuration(formatGoDuration(milliseconds))).toBe(milliseconds);
});
