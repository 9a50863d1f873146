import { expect, it } from 'vitest';
import { killTimeoutMs } from '../../../src/model/pod-workers/kill-timeout.js';

it.each([
  [0, 10_000],
  [1, 10_000],
  [6, 10_000],
  [7, 10_000],
  [8, 12_000],
  [9, 13_000],
  [30, 45_000],
])('a pod with a grace period of %i s is waited for for %i ms', (graceSeconds, expected) => {
  expect(killTimeoutMs(graceSeconds)).toBe(expected);
});
