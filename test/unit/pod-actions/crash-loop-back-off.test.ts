import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { BackOffEntry } from '../../../src/model/values/back-off.js';
import { containerHash } from '../../../src/model/pod-actions/container-hash.js';
import {
  type CrashLoopInput,
  crashLoopKey,
  type CrashLoopVerdict,
  decideBackOff,
  type ExitedInstance,
  instanceAt,
  isCrashLoopEntryStale,
  timeAt,
} from '../../../src/model/pod-actions/crash-loop-back-off.js';
import { aContainer, aPod } from '../pods.js';

const pod = aPod();
const container = aContainer('web');
const NANOS_PER_SECOND = 1_000_000_000n;
/** An instance that began and ended at these seconds. */
const instance = (
  restartCount: number,
  beganAt: number,
  endedAt: number,
  hash = containerHash(container),
): ExitedInstance => ({
  id: `instance-${restartCount}`,
  createdAt: BigInt(beganAt) * NANOS_PER_SECOND,
  finishedAt: BigInt(endedAt) * NANOS_PER_SECOND,
  restartCount,
  exitCode: 1,
  hash,
});
/** Newest first: one that ended at 1000 s, and the one before it, after which there was time for any wait. */
const withEarlier = (restartCount: number, beganAt = 999): readonly [ExitedInstance, ExitedInstance] => [
  instance(restartCount, beganAt, 1000),
  instance(restartCount - 1, beganAt - 400, beganAt - 399),
];
const waitSeconds = (verdict: CrashLoopVerdict) => (verdict.blocked ? verdict.delayMs / 1000 : 0);

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
        end: { id: 'instance-3', at: 1_001_000 },
      },
    });
  });

  it('it counts from there for this instance alone', () => {
    const first = decide(1_001_000, entry);
    expect(decide(1_011_000, first.entry, instance(4, 1005 + 3600, 1006 + 3600))).toMatchObject({ until: 1_031_000 });
  });

  it('an agent that has just started waits no longer either', () => {
    const [, before] = withEarlier(3, 999 + 3600);
    const earlierExited = [before];
    const first = decideBackOff({ pod, container, newestExited, earlierExited, now: 1_001_000 });
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
    ['is behind by minutes: it has not ended before its start', -600, 1_030_000],
    ['is behind by years', -600_000, 1_030_000],
    [
      'is ahead by minutes: it has not ended in the future, and has not run for longer than ten minutes',
      660,
      1_080_000,
    ],
  ])('waits once, where that %s', (_, aheadSeconds, until) => {
    const first = decide(aheadSeconds);
    expect(first).toMatchObject({ blocked: true, delayMs: 80_000, until });
    // Whatever the clocks say later.
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
        until: { 0: 1_030_000, [-600]: 1_020_000, 600: 1_031_000 }[aheadSeconds],
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
    const [newestExited, ...earlierExited] = withEarlier(7);
    for (const now of [1_000_000, 1_900_000]) {
      expect(decideBackOff({ pod, container, entry: started.entry, newestExited, earlierExited, now })).toEqual({
        blocked: false,
        entry: {
          delayMs: 10_000,
          lastUpdate: now,
          end: { id: 'instance-7', at: 1_000_000 },
          decidedBefore: 999_000,
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
    const entry = { delayMs: 40_000, lastUpdate: 1_000_000 };
    const end = { id: 'instance-2', at: 960_000 };
    const decided = { delayMs, lastUpdate: now, end, decidedBefore: 1_000_000 };
    expect(decideBackOff({ ...facts, entry })).toEqual({ blocked: false, entry: decided });
    expect(decideBackOff(facts)).toEqual({ blocked: false, entry: decided });
  });

  it('waits to the end after a run of nearly ten minutes, whatever housekeeping has dropped meanwhile', () => {
    const entry = { delayMs: 300_000, lastUpdate: 1_000_000 };
    const newestExited = instance(7, 1000, 1599);
    const until = 1_899_000;
    for (const now of [1_601_000, until - 1]) {
      expect(isCrashLoopEntryStale(entry, now)).toBe(false);
      expect(decideBackOff({ pod, container, entry, newestExited, now })).toMatchObject({ blocked: true, until });
    }
  });

  it('takes a limit below the first delay as the only delay', () => {
    const [newestExited, ...earlierExited] = withEarlier(1, 990);
    const facts = { pod, container, newestExited, earlierExited, maxMs: 2_000 };
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

describe('after a restart of the agent', () => {
  it.each<[row: string, instances: ExitedInstance[], seconds: number]>([
    ['the first instance has ended', [instance(0, 999, 1000)], 0],
    ['the first restart', [...withEarlier(1)], 10],
    ['the second', [...withEarlier(2)], 20],
    ['the fifth', [...withEarlier(5)], 160],
    ['the sixth', [...withEarlier(6)], 300],
    ['the thousandth', [...withEarlier(1000)], 300],
    // The count may be that of old log files.
    ['the first restart, and nothing shows when the one before ended', [instance(1, 999, 1000)], 0],
    ['the thousandth, and nothing shows when the one before ended', [instance(1000, 999, 1000)], 0],
    ['an instance that ran for longer than the reset period', [...withEarlier(6, 399)], 0],
    ['an instance that ran for just the reset period', [...withEarlier(6, 400)], 300],
    // Nobody would have remembered that one: a node that was off for a day.
    ['the one before was started long ago', [instance(7, 9999, 10_000), instance(6, 8798, 8799)], 10],
    ['the one before was started not that long ago', [instance(7, 9999, 10_000), instance(6, 8799, 8800)], 300],
    ['the one before ran long: the table had started over', [instance(7, 998, 1000), instance(6, 300, 990)], 10],
    ['one still earlier ran long', [instance(8, 998, 1000), instance(7, 900, 901), instance(6, 200, 890)], 20],
    ['another image ended', [instance(6, 999, 1000, 'abc')], 0],
    // An agent that was there has seen the end of an instance when it started the first of the new image.
    ['the image was changed: its first instance', [instance(7, 999, 1000), instance(6, 990, 991, 'abc')], 10],
    ['the image was changed: its first restart', [instance(8, 999, 1000), instance(6, 980, 981, 'abc')], 20],
    ['the second, with too little time between them for a wait', [instance(2, 999, 1000), instance(1, 990, 991)], 10],
    ['the second, with just enough', [instance(2, 999, 1000), instance(1, 989, 990)], 20],
    ['the sixth, with time for the wait of 40 s', [instance(6, 999, 1000), instance(5, 930, 931)], 80],
    ['the image was changed while the first of all ran', [instance(1, 999, 1000), instance(0, 990, 991, 'abc')], 0],
    [
      'an instance that never started has no end of its own',
      [{ ...instance(2, 1000, 1000), finishedAt: 0n }, instance(1, 990, 991)],
      20,
    ],
  ])('%s', (_, [newestExited, ...earlierExited], seconds) => {
    const now = Number(newestExited!.createdAt / 1_000_000n) + 1_000;
    const verdict = decideBackOff({ pod, container, newestExited, earlierExited, now });
    expect(waitSeconds(verdict)).toBe(seconds);
    if (verdict.blocked) expect(verdict.isFromRuntime).toBe(true);
  });

  it.each<[row: string, restartCount: number, sandboxAgeSeconds: number, seconds: number]>([
    // Old log files, and a first instance in a new sandbox.
    ['has only just been made', 7, 9, 0],
    ['leaves room for the first wait', 7, 10, 20],
    ['leaves room for the third wait', 7, 79, 80],
    ['leaves room for the fourth wait', 7, 80, 160],
    ['leaves room for any wait', 7, 86_400, 300],
    ['leaves room for more waits than there were restarts', 2, 86_400, 20],
    ['leaves room, but nothing was restarted', 0, 86_400, 0],
  ])('tells from the newest instance alone in a sandbox that %s', (_, restartCount, sandboxAgeSeconds, seconds) => {
    const oldestSandboxCreatedAt = BigInt(999 - sandboxAgeSeconds) * NANOS_PER_SECOND;
    const newestExited = instance(restartCount, 999, 1000);
    const facts = { pod, container, newestExited, oldestSandboxCreatedAt, now: 1_000_000 };
    expect(waitSeconds(decideBackOff(facts))).toBe(seconds);
  });

  it('tells also when an instance is replaced and nothing is left that has ended', () => {
    const facts = { pod, container, newest: instance(2, 999, 0), oldestSandboxCreatedAt: 900n * NANOS_PER_SECOND };
    const entry = { delayMs: 20_000, lastUpdate: 999_000 };
    expect(decideBackOff({ ...facts, now: 1_599_000 })).toEqual({ blocked: false, entry });
    const started = { delayMs: 0, lastUpdate: 1_599_001 };
    expect(decideBackOff({ ...facts, now: 1_599_001 })).toEqual({ blocked: false, entry: started });
    expect(decideBackOff({ ...facts, entry, now: 1_599_001 })).toEqual({ blocked: false, entry: started });
  });

  it('takes a lowered maximum for every wait for which there was time', () => {
    const facts = { pod, container, newestExited: instance(7, 999, 1000), now: 1_000_000, maxMs: 2_000 };
    const waits = [997n, 998n].map((madeAt) =>
      waitSeconds(decideBackOff({ ...facts, oldestSandboxCreatedAt: madeAt * NANOS_PER_SECOND })),
    );
    expect(waits).toEqual([2, 0]);
  });

  it('starts the table where nothing shows when the container ended before', () => {
    const first = decideBackOff({ pod, container, newestExited: instance(7, 999, 1000), now: 1_000_000 });
    expect(first).toEqual({
      blocked: false,
      entry: { delayMs: 10_000, lastUpdate: 1_000_000, end: { id: 'instance-7', at: 1_000_000 } },
      unknownRestarts: 7,
    });
    const { entry } = first;
    const second = { pod, container, entry, newestExited: instance(8, 1000, 1001), now: 1_001_000 };
    expect(decideBackOff(second)).toMatchObject({ blocked: true, delayMs: 10_000, isFromRuntime: false });
  });

  it.each<[row: string, facts: Partial<CrashLoopInput>]>([
    ['never ended before', { newestExited: instance(0, 999, 1000) }],
    [
      'left an earlier instance',
      { newestExited: withEarlier(1)[0], earlierExited: [withEarlier(1)[1]], now: 1_010_000 },
    ],
    ['ran for long', { newestExited: instance(7, 399, 1000) }],
    ['ended so long ago that no wait would last', { newestExited: instance(7, 999, 1000), now: 1_300_000 }],
    [
      'is remembered',
      { newestExited: instance(7, 999, 1000), entry: { delayMs: 10_000, lastUpdate: 900_000 }, now: 1_010_000 },
    ],
  ])('misses nothing of a container that %s', (_, facts) => {
    expect(decideBackOff({ pod, container, now: 1_000_000, ...facts })).not.toHaveProperty('unknownRestarts');
  });

  it('counts an instance that still runs and is about to be replaced', () => {
    const [newest, newestExited] = [instance(1, 1001, 0), instance(0, 990, 1000)];
    const facts = { pod, container, newestExited, maxMs: 300_000 };
    const remembered = { delayMs: 10_000, lastUpdate: 1_001_000 };
    for (const now of [1_008_000, 1_009_999]) {
      expect(decideBackOff({ ...facts, newest, now })).toEqual({
        ...decideBackOff({ ...facts, newest, entry: remembered, now }),
        isFromRuntime: true,
      });
    }
    const now = 1_010_000;
    expect(decideBackOff({ ...facts, newest, now })).toEqual(
      decideBackOff({ ...facts, newest, entry: remembered, now }),
    );
    expect(decideBackOff({ ...facts, newest, now: 1_008_000 })).toMatchObject({ blocked: true, until: 1_010_000 });
  });

  it('goes on from there as if it had never been away', () => {
    const [newestExited, ...earlierExited] = withEarlier(3);
    const facts = { pod, container, newestExited, earlierExited };
    const blocked = decideBackOff({ ...facts, now: 1_000_000 });
    expect(blocked).toMatchObject({ blocked: true, until: 1_040_000, entry: { delayMs: 40_000, lastUpdate: 999_000 } });
    expect(decideBackOff({ ...facts, now: 1_040_000 })).toEqual({
      blocked: false,
      entry: {
        ...{ delayMs: 80_000, lastUpdate: 1_040_000, decidedBefore: 999_000 },
        end: { id: 'instance-3', at: 1_000_000 },
      },
    });
  });

  test.prop([
    fc.array(fc.record({ ranSeconds: fc.integer({ min: 0, max: 1500 }) }), { minLength: 1, maxLength: 12 }),
    fc.constantFrom(300_000, 60_000, 5_000),
  ])('derives what an agent that never stopped remembers, when the runtime keeps every instance', (runs, maxMs) => {
    let entry: BackOffEntry | undefined;
    let startedAt = 1_000;
    const instances: ExitedInstance[] = [];
    for (const [restartCount, { ranSeconds }] of runs.entries()) {
      const endedAt = startedAt + ranSeconds;
      instances.unshift(instance(restartCount, startedAt, endedAt));
      const [newestExited, ...earlierExited] = instances;
      const facts = { pod, container, newestExited, earlierExited, maxMs };
      let now = endedAt * 1000;
      let remembered = decideBackOff({ ...facts, entry, now });
      expect(waitSeconds(decideBackOff({ ...facts, now }))).toBe(waitSeconds(remembered));
      expect(waitSeconds(decideBackOff({ ...facts, earlierExited: [], now }))).toBe(0);
      // In the sandbox that it had from its beginning, the newest alone may wait longer, and shorter only by the first wait.
      const oldestSandboxCreatedAt = 999n * NANOS_PER_SECOND;
      const alone = waitSeconds(decideBackOff({ ...facts, earlierExited: [], oldestSandboxCreatedAt, now }));
      if (waitSeconds(remembered) > 10) expect(alone).toBeGreaterThanOrEqual(waitSeconds(remembered));
      if (remembered.blocked) {
        now = remembered.until;
        remembered = decideBackOff({ ...facts, entry, now });
      }
      expect(remembered.blocked).toBe(false);
      expect(decideBackOff({ ...facts, now })).toEqual(remembered);
      entry = remembered.entry;
      startedAt = now / 1000;
    }
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

it('lets go of an entry after twenty idle minutes', () => {
  const entry = { delayMs: 300_000, lastUpdate: 0 };
  const newestExited = instance(7, 0, 600);
  expect(isCrashLoopEntryStale(entry, 1_200_000)).toBe(false);
  expect(decideBackOff({ pod, container, entry, newestExited, now: 1_200_000 }).entry.delayMs).toBe(300_000);
  expect(isCrashLoopEntryStale(entry, 1_200_001)).toBe(true);
  expect(decideBackOff({ pod, container, entry, newestExited, now: 1_200_001 }).entry.delayMs).toBe(10_000);
});
