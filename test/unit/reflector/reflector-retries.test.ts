import { expect, it } from 'vitest';
import {
  nextRetry,
  retryFailed,
  retrySucceeded,
  startRetries,
} from '../../../src/model/reflector/reflector-retries.js';

it('the waits grow after each other, and begin again after two minutes', () => {
  const first = nextRetry(startRetries(0), 0, 0);
  const second = nextRetry(first.retries, 800, 0);
  const late = nextRetry(second.retries, 120_001, 0);
  expect([first, second, late].map(({ delayMs }) => delayMs)).toEqual([800, 1_600, 800]);
});

it('a server that asks for a longer wait gets it once', () => {
  const { retries } = retryFailed(startRetries(0), { text: 'busy', severity: 'error', retryAfterMs: 5_000 });
  // A failure that says nothing about it changes nothing.
  const failed = retryFailed(retries, { text: 'lost', severity: 'error' });
  const first = nextRetry(failed.retries, 0, 0);
  expect([first.delayMs, nextRetry(first.retries, 0, 0).delayMs]).toEqual([5_000, 1_600]);
  const short = retryFailed(startRetries(0), { text: 'busy', severity: 'error', retryAfterMs: 1 });
  expect(nextRetry(short.retries, 0, 0).delayMs).toBe(800);
});

it('a failure is reported once, until a request succeeds', () => {
  const failure = { text: 'away', severity: 'error' } as const;
  const first = retryFailed(startRetries(0), failure);
  const second = retryFailed(first.retries, failure);
  const later = retryFailed(retrySucceeded(second.retries), failure);
  expect([first, second, later].map(({ severity }) => severity)).toEqual(['error', 'debug', 'error']);
});
