import { describe, expect, it } from 'vitest';
import type { BackOffEntry } from '../../../src/model/values/back-off.js';
import {
  type CrashLoopInput,
  type CrashLoopVerdict,
  decideBackOff,
  instanceAt,
  timeAt,
} from '../../../src/model/pod-actions/crash-loop-back-off.js';
import { NANOS_PER_SECOND, container, instance, pod } from './crash-loop-instances.js';

describe('with a clock that was set back by an hour after the end', () => {
  const HOUR_MS = 3_600_000;
  const newestExited = instance(3, 999 + 3600, 1000 + 3600);
  const entry: BackOffEntry = { delayMs: 20_000, lastUpdate: 990_000 + HOUR_MS };
  const decide = (now: number, before: CrashLoopInput['entry'], exited = newestExited) =>
    decideBackOff({ pod, container, entry: before, newestExited: exited, now });

  it('the wait is as long as its delay, from the moment at which that is seen', () => {
    const first = decide(1_001_000, entry);
    expect(first).toMatchObject({ blocked: true, delayMs: 20_000, until: 1_021_000 });
    expect(decide(1_011_000, first.entry)).toMatchObject({ blocked: true, until: 1_021_000 });
    expect(decide(1_021_000, first.entry)).toEqual({
      blocked: false,
      entry: {
        ...{ delayMs: 40_000, lastUpdate: 1_021_000, decidedBefore: 990_000 + HOUR_MS },
        ...{ end: { id: 'instance-3', at: 1_001_000 }, crashes: 1, counted: 'instance-3' },
      },
    });
  });

  it('it counts from there for this instance alone', () => {
    const first = decide(1_001_000, entry);
    expect(decide(1_011_000, first.entry, instance(4, 1005 + 3600, 1006 + 3600))).toMatchObject({ until: 1_031_000 });
  });

  it('an agent that has just started waits no longer either', () => {
    const first = decideBackOff({ pod, container, newestExited, shownCrashes: 3, now: 1_001_000 });
    expect(first).toMatchObject({ blocked: true, isFromRuntime: true });
    const { delayMs } = first as Extract<CrashLoopVerdict, { blocked: true }>;
    expect(first).toMatchObject({ until: 1_001_000 + delayMs });
    expect(decide(1_001_000 + delayMs, first.entry)).toMatchObject({ blocked: false });
  });
});

describe('with a clock of the runtime that differs from that of the agent', () => {
  const [now, startedAt] = [1_000_000, 950_000];
  const entry: BackOffEntry = { delayMs: 80_000, lastUpdate: startedAt };
  /** It ran from 951 s to 990 s; the runtime is ahead by these seconds. */
  const decide = (aheadSeconds: number, before: CrashLoopInput['entry'] = entry, at = now) =>
    decideBackOff({
      ...{ pod, container, entry: before, now: at },
      newestExited: instance(3, 951 + aheadSeconds, 990 + aheadSeconds),
    });

  it.each([
    ['agrees', 0, 1_070_000],
    ['is behind by minutes: it has not ended before its start', -600, 1_080_000],
    ['is behind by years', -600_000, 1_080_000],
    [
      'is ahead by minutes: it has not ended in the future, and has not run for longer than ten minutes',
      660,
      1_080_000,
    ],
  ])('waits once, where that %s', (_, aheadSeconds, until) => {
    const first = decide(aheadSeconds);
    expect(first).toMatchObject({ blocked: true, delayMs: 80_000, until });
    // With any later reading of the clocks.
    for (const later of [-100_000, 0, 100_000]) {
      expect(decide(later, first.entry, until - 1)).toMatchObject({ blocked: true, until });
      expect(decide(later, first.entry, until)).toMatchObject({ blocked: false, entry: { delayMs: 160_000 } });
    }
  });

  it.each([0, -600, 600])(
    'counts from the end of the one before that is replaced: it is ahead by %i s',
    (aheadSeconds) => {
      const before = { ...entry, decidedBefore: 940_000 };
      const newest = { ...instance(4, 951 + aheadSeconds, 0), finishedAt: 0n };
      const newestExited = instance(3, 941 + aheadSeconds, 950 + aheadSeconds);
      const verdict = decideBackOff({ pod, container, entry: before, newest, newestExited, now: 951_000 });
      expect(verdict).toMatchObject({
        blocked: true,
        until: { 0: 1_030_000, [-600]: 1_031_000, 600: 1_031_000 }[aheadSeconds],
      });
    },
  );

  it('does not wait from an attempt to start its successor that has failed', () => {
    const blocked = decide(0);
    const tried = decide(0, blocked.entry, 1_070_000);
    expect(decide(0, tried.entry, 1_071_000)).toMatchObject({ blocked: true, delayMs: 160_000, until: 1_150_000 });
  });

  it('translates its times, except those that it does not have', () => {
    const times = { now: 5_000, wallNow: 65_000 };
    const running = { ...instance(1, 64, 0), finishedAt: 0n };
    expect(instanceAt(running, times)).toEqual({ ...running, createdAt: 4n * NANOS_PER_SECOND });
    expect(timeAt(1n, times)).toBe(1n);
  });
});
