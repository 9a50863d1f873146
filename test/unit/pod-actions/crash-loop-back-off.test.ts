import { describe, expect, it } from 'vitest';
import type { BackOffEntry } from '../../../src/model/values/back-off.js';
import {
  crashLoopKey,
  decideBackOff,
  isCrashLoopEntryStale,
} from '../../../src/model/pod-actions/crash-loop-back-off.js';
import { container, instance, pod, withCrashes } from './crash-loop-instances.js';

describe('with an entry in memory', () => {
  it.each<[row: string, entry: BackOffEntry | undefined, now: number, expected: object]>([
    [
      'the first end is started at once',
      undefined,
      1_000_000,
      { blocked: false, entry: { delayMs: 10_000, lastUpdate: 1_000_000 } },
    ],
    [
      'the second one waits 10 s from its end',
      { delayMs: 10_000, lastUpdate: 990_000 },
      1_009_999,
      { blocked: true, delayMs: 10_000, until: 1_010_000, step: 1, steps: 6 },
    ],
    [
      'and is started then, which doubles the delay',
      { delayMs: 10_000, lastUpdate: 990_000 },
      1_010_000,
      { blocked: false, entry: { delayMs: 20_000, lastUpdate: 1_010_000 } },
    ],
    [
      'the delay ends at the limit',
      { delayMs: 160_000, lastUpdate: 990_000 },
      1_160_000,
      { blocked: false, entry: { delayMs: 300_000, lastUpdate: 1_160_000 } },
    ],
    [
      'at the limit',
      { delayMs: 300_000, lastUpdate: 990_000 },
      1_000_000,
      { blocked: true, delayMs: 300_000, until: 1_300_000, step: 6, steps: 6 },
    ],
    [
      'a run of exactly ten minutes does not start the table over',
      { delayMs: 300_000, lastUpdate: 400_000 },
      1_000_000,
      { blocked: true, delayMs: 300_000 },
    ],
    [
      'a longer one does',
      { delayMs: 300_000, lastUpdate: 399_999 },
      1_000_000,
      { blocked: false, entry: { delayMs: 10_000, lastUpdate: 1_000_000 } },
    ],
  ])('%s', (_, entry, now, expected) => {
    const newestExited = instance(0, 0, 1000);
    expect(decideBackOff({ pod, container, entry, newestExited, now })).toMatchObject(expected);
  });

  it('blocks nothing that has never ended', () => {
    const entry = { delayMs: 10_000, lastUpdate: 0 };
    expect(decideBackOff({ pod, container, entry, now: 1 })).toEqual({ blocked: false, entry });
  });

  it('remembers a first start, so that what is older counts for nothing later', () => {
    const started = decideBackOff({ pod, container, now: 999_000 });
    expect(started).toEqual({ blocked: false, entry: { delayMs: 0, lastUpdate: 999_000 } });
    for (const now of [1_000_000, 1_900_000]) {
      expect(decideBackOff({ pod, container, entry: started.entry, ...withCrashes(7), now })).toEqual({
        blocked: false,
        entry: {
          delayMs: 10_000,
          lastUpdate: now,
          end: { id: 'instance-7', at: 1_000_000 },
          decidedBefore: 999_000,
          crashes: 1,
          counted: 'instance-7',
        },
      });
    }
    expect(decideBackOff({ pod, container, entry: started.entry, now: 999_500 }).entry.lastUpdate).toBe(999_500);
  });

  it.each<[row: string, runningSeconds: number, delayMs: number]>([
    ['goes on with the table', 600, 80_000],
    ['after it ran for more than ten minutes starts the table over', 601, 10_000],
  ])('replacing an instance that still runs %s', (_, runningSeconds, delayMs) => {
    const now = 1_000_000 + runningSeconds * 1000;
    const facts = { pod, container, newest: instance(3, 1000, 0), newestExited: instance(2, 959, 960), now };
    const entry = { delayMs: 40_000, lastUpdate: 1_000_000, crashes: 3 };
    const end = { id: 'instance-2', at: 960_000 };
    const crashes = delayMs === 80_000 ? 4 : 1;
    const decided = { delayMs, lastUpdate: now, end, decidedBefore: 1_000_000, crashes, counted: 'instance-3' };
    expect(decideBackOff({ ...facts, entry })).toEqual({ blocked: false, entry: decided });
    expect(decideBackOff({ ...facts, shownCrashes: 3 }).entry).toMatchObject({ delayMs, crashes });
  });

  it('waits to the end after a run of nearly ten minutes, even if housekeeping has dropped it meanwhile', () => {
    const entry = { delayMs: 300_000, lastUpdate: 1_000_000 };
    const newestExited = instance(7, 1000, 1599);
    const until = 1_899_000;
    for (const now of [1_601_000, until - 1]) {
      expect(isCrashLoopEntryStale(entry, now)).toBe(false);
      expect(decideBackOff({ pod, container, entry, newestExited, now })).toMatchObject({ blocked: true, until });
    }
  });

  it('takes a limit below the first delay as the only delay', () => {
    const facts = { pod, container, ...withCrashes(1, 990), maxMs: 2_000 };
    expect(decideBackOff({ ...facts, now: 1_000_500 })).toMatchObject({
      blocked: true,
      delayMs: 2_000,
      step: 1,
      steps: 1,
    });
  });

  it('prints its messages as the kubelet does', () => {
    const entry = { delayMs: 80_000, lastUpdate: 990_000 };
    const newestExited = { ...instance(4, 990, 1000), exitCode: 42 };
    expect(decideBackOff({ pod, container, entry, newestExited, now: 1_000_000 })).toMatchObject({
      exitCode: 42,
      message: 'back-off 1m20s restarting failed container=web pod=p_default(uid-1)',
      eventMessage: 'Back-off restarting failed container web in pod p_default(uid-1)',
    });
  });
});

describe('crashLoopKey', () => {
  it.each([
    ['the image', { image: 'other' }],
    ['the resources', { resources: { limits: { cpu: '1' } } }],
    ['the name', { name: 'other' }],
  ])('differs with %s', (_, fields) => {
    expect(crashLoopKey(pod, { ...container, ...fields })).not.toBe(crashLoopKey(pod, container));
  });

  it('stays with any other edit', () => {
    expect(crashLoopKey(pod, { ...container, command: ['x'] })).toBe(crashLoopKey(pod, container));
  });
});

it('forgets an entry after twenty idle minutes', () => {
  const entry = { delayMs: 300_000, lastUpdate: 0 };
  const newestExited = instance(7, 0, 600);
  expect(isCrashLoopEntryStale(entry, 1_200_000)).toBe(false);
  expect(decideBackOff({ pod, container, entry, newestExited, now: 1_200_000 }).entry.delayMs).toBe(300_000);
  expect(isCrashLoopEntryStale(entry, 1_200_001)).toBe(true);
  expect(decideBackOff({ pod, container, entry, newestExited, now: 1_200_001 }).entry.delayMs).toBe(10_000);
});
