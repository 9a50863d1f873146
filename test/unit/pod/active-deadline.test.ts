import { expect, it } from 'vitest';
import { isPastActiveDeadline } from '../../../src/model/pod/active-deadline.js';
import { aPod } from '../pods.js';

const startTime = '2026-01-01T00:00:00Z';

it.each<[row: string, seconds: number | undefined, startTime: string | undefined, now: string, past: boolean]>([
  ['no deadline', undefined, startTime, '2036-01-01T00:00:00Z', false],
  ['no start time yet', 5, undefined, '2036-01-01T00:00:00Z', false],
  ['before it', 5, startTime, '2026-01-01T00:00:04.999Z', false],
  ['at it', 5, startTime, '2026-01-01T00:00:05Z', true],
])('%s', (_, activeDeadlineSeconds, start, now, past) => {
  expect(isPastActiveDeadline(aPod({ activeDeadlineSeconds }), start, Date.parse(now))).toBe(past);
});
