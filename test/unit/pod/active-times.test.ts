import { Map as ImmutableMap } from 'immutable';
import { describe, expect, it } from 'vitest';
import { type ActiveTimes, activeMsOf, startSeen } from '../../../src/model/pod/active-times.js';
import { retainKeys } from '../../../src/model/values/retain.js';

const START = '2026-01-01T00:00:00Z';
const startMs = Date.parse(START);
const HOUR_MS = 3_600_000;
const NONE: ActiveTimes = ImmutableMap();

/** Sees the start of the pod `a` at each of these moments, and returns for how long it was active at the last one. */
const seenAt = (...moments: readonly (readonly [now: number, sinceStartMs: number, startTime?: string])[]) => {
  const times = moments.reduce(
    (known, [now, sinceStartMs, startTime = START]) =>
      startSeen(known, 'a', startTime, { now, wallNow: startMs + sinceStartMs }),
    NONE,
  );
  const [now, , startTime = START] = moments.at(-1)!;
  return activeMsOf(times, 'a', startTime, now);
};

describe('the time for which a pod is active', () => {
  it('counts from its start, also before this life of the agent', () => {
    expect(seenAt([7, 5_000])).toBe(5_000);
    expect(seenAt([7, 5_000], [1_007, 6_000])).toBe(6_000);
  });

  it.each([-HOUR_MS, HOUR_MS, 50 * 365 * 24 * HOUR_MS])(
    'does not change with a clock that is set by %i ms',
    (jumpMs) => {
      expect(seenAt([0, 0], [2_000, 2_000 + jumpMs])).toBe(2_000);
    },
  );

  it('begins now if the start is in the future', () => {
    expect(seenAt([0, -HOUR_MS])).toBe(0);
    expect(seenAt([0, -HOUR_MS], [3_000, 3_000 - HOUR_MS])).toBe(3_000);
  });

  it('begins again with another start, and with a pod that came back', () => {
    expect(seenAt([0, 0], [9_000, 9_000, '2026-01-01T00:00:08Z'])).toBe(1_000);
    const seen = startSeen(NONE, 'a', START, { now: 0, wallNow: startMs });
    const back = startSeen(retainKeys(seen, new Set(['b'])), 'a', START, { now: 9_000, wallNow: startMs + 4_000 });
    expect(activeMsOf(back, 'a', START, 9_000)).toBe(4_000);
  });

  it('is not known before this start was seen, and for a pod that has not started', () => {
    const seen = startSeen(NONE, 'a', START, { now: 0, wallNow: startMs });
    expect(activeMsOf(NONE, 'a', START, 5)).toBeUndefined();
    expect(activeMsOf(seen, 'a', '2026-01-01T00:00:08Z', 5)).toBeUndefined();
    expect(activeMsOf(seen, 'a', undefined, 5)).toBeUndefined();
    expect(activeMsOf(NONE, 'a', undefined, 5)).toBeUndefined();
  });
});
