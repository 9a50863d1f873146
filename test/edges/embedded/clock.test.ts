import { afterEach, expect, it, vi } from 'vitest';
import { nowNs } from '../../../src/runtime/embedded/machine/clock.js';

const MS = 1_000_000n;
const DAY_MS = 86_400_000;

afterEach(() => void vi.useRealTimers());

const at = (ms: number): bigint => {
  vi.useFakeTimers({ toFake: ['Date'], now: ms });
  return nowNs();
};

it('is the wall clock of the moment, also after it was set', () => {
  const boot = Date.UTC(1970, 0, 1, 0, 5);
  const real = Date.UTC(2026, 10, 27);
  expect(at(boot)).toBe(BigInt(boot) * MS);
  expect(at(real)).toBe(BigInt(real) * MS);
  expect(at(real - DAY_MS)).toBe(BigInt(real - DAY_MS) * MS);
});

it('is greater with every call, also within a millisecond and while the clock is slowed down', () => {
  const now = Date.UTC(2027, 0, 1);
  const times = [0, 0, 1, 0, -900, 2].map((ms) => at(now + ms));
  expect(times).toEqual([0n, 1n, MS, MS + 1n, MS + 2n, 2n * MS].map((ns) => BigInt(now) * MS + ns));
});
