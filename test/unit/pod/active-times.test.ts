import { describe, expect, it } from 'vitest';
import { ActiveTimes } from '../../../src/model/pod/active-times.js';

const START = '2026-01-01T00:00:00Z';
const startMs = Date.parse(START);
const HOUR_MS = 3_600_000;

describe('the time for which a pod is active', () => {
  it('counts from its start, also before this life of the agent', () => {
    const times = new ActiveTimes();
    expect(times.seen('a', START, { now: 7, wallNow: startMs + 5_000 })).toBe(5_000);
    expect(times.seen('a', START, { now: 1_007, wallNow: startMs + 6_000 })).toBe(6_000);
  });

  it.each([-HOUR_MS, HOUR_MS, 50 * 365 * 24 * HOUR_MS])(
    'does not change with a clock that is set by %i ms',
    (jumpMs) => {
      const times = new ActiveTimes();
      times.seen('a', START, { now: 0, wallNow: startMs });
      expect(times.seen('a', START, { now: 2_000, wallNow: startMs + 2_000 + jumpMs })).toBe(2_000);
    },
  );

  it('begins now if the start is in the future', () => {
    const times = new ActiveTimes();
    expect(times.seen('a', START, { now: 0, wallNow: startMs - HOUR_MS })).toBe(0);
    expect(times.seen('a', START, { now: 3_000, wallNow: startMs - HOUR_MS + 3_000 })).toBe(3_000);
  });

  it('begins again with another start, and with a pod that came back', () => {
    const times = new ActiveTimes();
    times.seen('a', START, { now: 0, wallNow: startMs });
    const later = { now: 9_000, wallNow: startMs + 9_000 };
    expect(times.seen('a', '2026-01-01T00:00:08Z', later)).toBe(1_000);
    times.retain(new Set(['b']));
    expect(times.seen('a', START, { ...later, wallNow: startMs + 4_000 })).toBe(4_000);
  });
});
