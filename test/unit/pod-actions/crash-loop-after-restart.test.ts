import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { BackOffEntry } from '../../../src/model/values/back-off.js';
import {
  type CrashLoopInput,
  decideBackOff,
  type ExitedInstance,
} from '../../../src/model/pod-actions/crash-loop-back-off.js';
import { NANOS_PER_SECOND, container, instance, pod, waitSeconds, withEarlier } from './crash-loop-instances.js';

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
    // No agent would have remembered that one: a node that was off for a day.
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
  ])('decides from the newest instance alone in a sandbox that %s', (_, restartCount, sandboxAgeSeconds, seconds) => {
    const oldestSandboxCreatedAt = BigInt(999 - sandboxAgeSeconds) * NANOS_PER_SECOND;
    const newestExited = instance(restartCount, 999, 1000);
    const facts = { pod, container, newestExited, oldestSandboxCreatedAt, now: 1_000_000 };
    expect(waitSeconds(decideBackOff(facts))).toBe(seconds);
  });

  it('decides also when an instance is replaced and nothing is left that has ended', () => {
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
    ['ended too long ago for any wait', { newestExited: instance(7, 999, 1000), now: 1_300_000 }],
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
