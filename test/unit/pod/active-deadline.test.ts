import { expect, it } from 'vitest';
import { isPastActiveDeadline } from '../../../src/model/pod/active-deadline.js';
import { aPod } from '../pods.js';

it.each<[row: string, seconds: number | undefined, activeMs: number | undefined, past: boolean]>([
  ['no deadline', undefined, 1e12, false],
  ['no start time yet', 5, undefined, false],
  ['before it', 5, 4_999, false],
  ['at it', 5, 5_000, true],
])('%s', (_, activeDeadlineSeconds, activeMs, past) => {
  expect(isPastActiveDeadline(aPod({ activeDeadlineSeconds }), activeMs)).toBe(past);
});
