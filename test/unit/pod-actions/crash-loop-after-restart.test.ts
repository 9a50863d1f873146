import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  type CrashLoopEntry,
  type CrashLoopInput,
  decideBackOff,
} from '../../../src/model/pod-actions/crash-loop-back-off.js';
import { container, instance, pod, waitSeconds, withCrashes } from './crash-loop-instances.js';

const CRASH = { counts: true, because: 'came by itself' };
const NO_CRASH = { counts: false, because: 'was asked for by the agent' };

describe('another agent goes on with the crashes that the newest instance was created with', () => {
  it.each<[row: string, facts: Partial<CrashLoopInput>, seconds: number]>([
    ['the first end', withCrashes(0), 0],
    ['the second', withCrashes(1), 10],
    ['the third', withCrashes(2), 20],
    ['the sixth', withCrashes(5), 160],
    ['the seventh', withCrashes(6), 300],
    ['the thousandth', withCrashes(1000), 300],
    ['the seventh, and its sandbox has ended', { ...withCrashes(6), shownCrashes: undefined }, 0],
    ['the hundredth by the count of restarts, which counts every end', { newestExited: instance(99, 999, 1000) }, 0],
    ['the seventh, which the agent has asked for', { ...withCrashes(6), end: NO_CRASH }, 0],
    ['the seventh, after a run of more than the reset period', withCrashes(6, 399), 0],
    ['the seventh, after a run of just the reset period', withCrashes(6, 400), 300],
    ['the seventh, of another image', { ...withCrashes(6), newestExited: instance(6, 999, 1000, 'abc') }, 0],
  ])('%s', (_, facts, seconds) => {
    const verdict = decideBackOff({ pod, container, now: 1_000_500, ...facts });
    expect(waitSeconds(verdict)).toBe(seconds);
    if (verdict.blocked) expect(verdict.isFromRuntime).toBe(true);
  });

  it('an end that is no crash is named with its reason, and the crashes before it stay', () => {
    const facts = { pod, container, ...withCrashes(3), now: 1_000_500 };
    const uncounted = decideBackOff({ ...facts, end: NO_CRASH });
    expect(uncounted).toEqual({
      blocked: false,
      entry: {
        ...{ delayMs: 40_000, crashes: 3, lastUpdate: 1_000_500, decidedBefore: 999_000 },
        end: { id: 'instance-3', at: 1_000_000 },
      },
      uncounted: 'was asked for by the agent',
    });
    const { entry } = uncounted;
    const next = { pod, container, entry, newestExited: instance(4, 1001, 1002), end: CRASH };
    expect(decideBackOff({ ...next, now: 1_002_000 })).toMatchObject({ blocked: true, delayMs: 40_000 });
    expect(decideBackOff({ ...next, now: 1_042_000 })).toMatchObject({ entry: { delayMs: 80_000, crashes: 4 } });
  });

  it('a first end that is no crash leaves the table empty', () => {
    const { entry } = decideBackOff({ pod, container, ...withCrashes(0), end: NO_CRASH, now: 1_000_500 });
    expect(entry).toMatchObject({ delayMs: 0 });
    const next = { pod, container, entry, newestExited: instance(1, 1001, 1002), now: 1_002_000 };
    expect(decideBackOff(next)).toMatchObject({ blocked: false, entry: { delayMs: 10_000, crashes: 1 } });
  });

  it('the crashes go on where an instance that still runs is replaced', () => {
    const newest = instance(2, 999, 0);
    const facts = { pod, container, newest, shownCrashes: 2 };
    const entry = { delayMs: 20_000, lastUpdate: 999_000, crashes: 2 };
    expect(decideBackOff({ ...facts, now: 1_599_000 })).toEqual({ blocked: false, entry });
    expect(decideBackOff({ ...facts, now: 1_599_001 })).toMatchObject({ entry: { delayMs: 0 } });
  });
});

it('an end counts once for the next agent, however often a start after it fails and is decided again', () => {
  const ended = { pod, container, newestExited: instance(2, 999, 1000), end: CRASH };
  const entry = { delayMs: 10_000, lastUpdate: 999_000, crashes: 1 };
  const first = decideBackOff({ ...ended, entry, now: 1_010_000 });
  expect(first).toMatchObject({ blocked: false, entry: { delayMs: 20_000, crashes: 2 } });
  const again = decideBackOff({ ...ended, entry: first.entry, now: 1_020_000 });
  expect(again).toMatchObject({ blocked: false, entry: { delayMs: 40_000, crashes: 2 } });
  const next = { ...ended, newestExited: instance(3, 1021, 1022) };
  expect(decideBackOff({ ...next, entry: again.entry, now: 1_062_000 })).toMatchObject({ entry: { crashes: 3 } });
});

it('the end of an instance that is being replaced counts once as well', () => {
  const replaced = { pod, container, newest: instance(2, 1010, 0), newestExited: instance(1, 999, 1000), end: CRASH };
  const entry = { delayMs: 10_000, lastUpdate: 1_010_000, crashes: 1, counted: 'instance-1' };
  const first = decideBackOff({ ...replaced, entry, now: 1_030_000 });
  expect(first.entry).toMatchObject({ crashes: 2, counted: 'instance-2' });
  expect(decideBackOff({ ...replaced, entry: first.entry, now: 1_070_000 }).entry).toMatchObject({ crashes: 2 });
});

it('an agent that stays counts every end for its waits, and the crashes alone for the next agent', () => {
  const facts = { pod, container, entry: { delayMs: 20_000, lastUpdate: 999_000, crashes: 1 } };
  const ended = { ...facts, newestExited: instance(5, 999, 1000), end: NO_CRASH };
  expect(decideBackOff({ ...ended, now: 1_000_500 })).toMatchObject({ blocked: true, delayMs: 20_000 });
  expect(decideBackOff({ ...ended, now: 1_020_000 })).toMatchObject({ entry: { delayMs: 40_000, crashes: 1 } });
});

test.prop([
  fc.array(fc.record({ ranSeconds: fc.integer({ min: 0, max: 1150 }), isCrash: fc.boolean() }), {
    minLength: 1,
    maxLength: 12,
  }),
  fc.constantFrom(300_000, 60_000, 5_000),
])('another agent waits as one that never stopped where all ends were crashes, and never longer', (runs, maxMs) => {
  let entry: CrashLoopEntry | undefined;
  let startedAt = 1_000;
  for (const [restartCount, { ranSeconds, isCrash }] of runs.entries()) {
    const endedAt = startedAt + ranSeconds;
    const newestExited = instance(restartCount, startedAt, endedAt);
    const facts = { pod, container, newestExited, maxMs, end: isCrash ? CRASH : NO_CRASH };
    let now = endedAt * 1000;
    const another = waitSeconds(decideBackOff({ ...facts, shownCrashes: entry?.crashes ?? 0, now }));
    let remembered = decideBackOff({ ...facts, entry, now });
    const areCrashes = runs.slice(0, restartCount + 1).every((run) => run.isCrash);
    if (areCrashes) expect(another).toBe(waitSeconds(remembered));
    else expect(another).toBeLessThanOrEqual(waitSeconds(remembered));
    if (!isCrash) expect(another).toBe(0);
    if (remembered.blocked) {
      now = remembered.until;
      remembered = decideBackOff({ ...facts, entry, now });
    }
    expect(remembered.blocked).toBe(false);
    entry = remembered.entry;
    startedAt = now / 1000;
  }
});
