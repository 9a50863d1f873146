import { expect, it } from 'vitest';
import { parseInstant } from '../../../../src/tools/timeline/parse-instant.js';

const NOW = Date.UTC(2026, 0, 31, 12);

it.each<[string, number | undefined]>([
  ['10m', NOW - 600_000],
  ['1h30m', NOW - 5_400_000],
  ['0', NOW],
  ['2026-01-31T11:00:00Z', NOW - 3_600_000],
  ['2026-01-31T11:00:00.250Z', NOW - 3_599_750],
  ['2026-01-31T13:00:00+02:00', NOW - 3_600_000],
  ['2026-01-31T11:00', NOW - 3_600_000],
  ['2026-01-31 11:00:00', NOW - 3_600_000],
  ['2026-01-31', Date.UTC(2026, 0, 31)],
  ['-10m', undefined],
  ['10', undefined],
  ['yesterday', undefined],
  ['2026-13-01', undefined],
  ['11:00', undefined],
  ['', undefined],
])('%s', (text, expected) => expect(parseInstant(text, NOW)).toBe(expected));
