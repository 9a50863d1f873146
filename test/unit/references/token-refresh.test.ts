import { describe, expect, it } from 'vitest';
import { isExpired, needsRefresh } from '../../../src/model/references/token-refresh.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('a token', () => {
  it.each([
    { lifetimeMs: HOUR, age: 0.8 * HOUR, random: 0, isDue: false },
    { lifetimeMs: HOUR, age: 0.8 * HOUR + 1, random: 0, isDue: true },
    { lifetimeMs: HOUR, age: 0.8 * HOUR - 9_000, random: 0.99, isDue: false },
    { lifetimeMs: HOUR, age: 0.8 * HOUR - 8_999, random: 0.99, isDue: true },
    { lifetimeMs: 30 * DAY, age: DAY, random: 0, isDue: false },
    { lifetimeMs: 30 * DAY, age: DAY + 1, random: 0, isDue: true },
    { lifetimeMs: 30 * DAY, age: DAY - 4_999, random: 0.5, isDue: true },
    { lifetimeMs: HOUR, age: 2 * HOUR, random: 0, isDue: true },
  ])(
    'of $lifetimeMs ms is due for another after $age ms, by chance $random: $isDue',
    ({ lifetimeMs, age, random, isDue }) => {
      const issuedAt = 1_700_000_000_000;
      expect(needsRefresh({ expiresAt: issuedAt + lifetimeMs, lifetimeMs }, issuedAt + age, random)).toBe(isDue);
    },
  );

  it('is good until its end, and no longer', () => {
    const life = { expiresAt: 1_000, lifetimeMs: 1_000 };
    expect([999, 1_000, 1_001].map((now) => isExpired(life, now))).toEqual([false, false, true]);
  });
});
