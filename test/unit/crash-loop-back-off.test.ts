import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { BackOffEntry } from '../../src/model/back-off.js';
import { containerHash } from '../../src/model/container-hash.js';
import {
  crashLoopKey,
  type CrashLoopVerdict,
  decideBackOff,
  type ExitedInstance,
  isCrashLoopEntryStale,
} from '../../src/model/crash-loop-back-off.js';
import { aContainer, aPod } from './pods.js';

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
  createdAt: BigInt(beganAt) * NANOS_PER_SECOND,
  finishedAt: BigInt(endedAt) * NANOS_PER_SECOND,
  restartCount,
  exitCode: 1,
  hash,
});
const waitSeconds = (verdict: CrashLoopVerdict) => (verdict.blocked ? verdict.delayMs / 1000 : 0);

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

  it('takes a limit below the first delay as the only delay', () => {
    const newestExited = instance(1, 990, 1000);
    expect(decideBackOff({ pod, container, newestExited, now: 1_000_500, maxMs: 2_000 })).toMatchObject({
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
    ['the first restart', [instance(1, 999, 1000)], 10],
    ['the second', [instance(2, 999, 1000)], 20],
    ['the fifth', [instance(5, 999, 1000)], 160],
    ['the sixth', [instance(6, 999, 1000)], 300],
    ['the thousandth', [instance(1000, 999, 1000)], 300],
    ['an instance that ran for longer than the reset period', [instance(6, 399, 1000)], 0],
    ['an instance that ran for just the reset period', [instance(6, 400, 1000)], 300],
    ['the one before ran long: the table had started over', [instance(7, 998, 1000), instance(6, 300, 990)], 10],
    ['one still earlier ran long', [instance(8, 998, 1000), instance(7, 900, 901), instance(6, 200, 890)], 20],
    ['another image ended', [instance(6, 999, 1000, 'abc')], 0],
    // An agent that was there has seen the end of an instance when it started the first of the new image.
    ['the image was changed: its first instance', [instance(7, 999, 1000), instance(6, 990, 991, 'abc')], 10],
    ['the image was changed: its first restart', [instance(8, 999, 1000), instance(6, 990, 991, 'abc')], 20],
    ['the image was changed while the first of all ran', [instance(1, 999, 1000), instance(0, 990, 991, 'abc')], 0],
    ['an instance that never started has no end of its own', [{ ...instance(2, 1000, 1000), finishedAt: 0n }], 20],
  ])('%s', (_, [newestExited, ...earlierExited], seconds) => {
    const verdict = decideBackOff({ pod, container, newestExited, earlierExited, now: 1_000_000 });
    expect(waitSeconds(verdict)).toBe(seconds);
  });

  it('counts an instance that still runs and is about to be replaced', () => {
    const [newest, newestExited] = [instance(1, 1001, 0), instance(0, 990, 1000)];
    const facts = { pod, container, newestExited, maxMs: 300_000 };
    const remembered = { delayMs: 10_000, lastUpdate: 1_001_000 };
    for (const now of [1_008_000, 1_009_999, 1_010_000]) {
      expect(decideBackOff({ ...facts, newest, now })).toEqual(decideBackOff({ ...facts, entry: remembered, now }));
    }
    expect(decideBackOff({ ...facts, newest, now: 1_008_000 })).toMatchObject({ blocked: true, until: 1_010_000 });
  });

  it('goes on from there as if it had never been away', () => {
    const newestExited = instance(3, 999, 1000);
    const blocked = decideBackOff({ pod, container, newestExited, now: 1_000_000 });
    expect(blocked).toMatchObject({ blocked: true, until: 1_040_000, entry: { delayMs: 40_000, lastUpdate: 999_000 } });
    expect(decideBackOff({ pod, container, newestExited, now: 1_040_000 })).toEqual({
      blocked: false,
      entry: { delayMs: 80_000, lastUpdate: 1_040_000 },
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
      // With the newest one alone it may wait longer, never shorter.
      const alone = decideBackOff({ ...facts, earlierExited: [], now });
      expect(waitSeconds(alone)).toBeGreaterThanOrEqual(waitSeconds(remembered));
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

it('lets go of an entry after ten idle minutes', () => {
  const entry = { delayMs: 300_000, lastUpdate: 0 };
  expect(isCrashLoopEntryStale(entry, 600_000)).toBe(false);
  expect(isCrashLoopEntryStale(entry, 600_001)).toBe(true);
});
