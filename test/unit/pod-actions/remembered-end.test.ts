import { describe, expect, it } from 'vitest';
import { containerHash } from '../../../src/model/pod-actions/container-hash.js';
import {
  type CrashLoopEntry,
  decideBackOff,
  type ExitedInstance,
  rememberEnd,
} from '../../../src/model/pod-actions/crash-loop-back-off.js';
import { aContainer, aPod } from '../pods.js';

const pod = aPod();
const container = aContainer('web');
/** An instance that began and ended at these seconds. */
const instance = (restartCount: number, beganAt: number, endedAt: number): ExitedInstance => ({
  ...{ id: `instance-${restartCount}`, restartCount, exitCode: 1, hash: containerHash(container) },
  createdAt: BigInt(beganAt) * 1_000_000_000n,
  finishedAt: BigInt(endedAt) * 1_000_000_000n,
});
/** The decision at that second without anything of the container in the runtime. */
const decideAt = (second: number, entry: CrashLoopEntry) =>
  decideBackOff({ pod, container, entry, newestExited: entry.removed, now: second * 1000 });

describe('an end that is remembered, since its instance is removed', () => {
  const ended = instance(1, 999, 1000);
  const now = 1_001_000;

  it('counts as if the instance were there', () => {
    const entry: CrashLoopEntry = { delayMs: 10_000, lastUpdate: 999_000 };
    const kept = rememberEnd({ pod, container, entry, newestExited: ended, now });
    expect(kept).toEqual({ ...entry, removed: ended });
    expect(decideAt(1009, kept)).toMatchObject({ blocked: true, until: 1_010_000, exitCode: 1, entry: kept });
    expect(decideAt(1010, kept)).toMatchObject({ blocked: false, entry: { delayMs: 20_000, lastUpdate: 1_010_000 } });
    expect(decideAt(1010, kept).entry).not.toHaveProperty('removed');
  });

  it('is the first one of a container that this agent has started', () => {
    const entry: CrashLoopEntry = { delayMs: 0, lastUpdate: 0 };
    const kept = rememberEnd({ pod, container, entry, newestExited: ended, now });
    expect(decideAt(1001, kept)).toMatchObject({ blocked: false, entry: { delayMs: 10_000 } });
  });

  it('goes on with what the runtime shows an agent that has just started', () => {
    const newestExited = instance(3, 999, 1000);
    const kept = rememberEnd({ pod, container, newestExited, shownCrashes: 3, now });
    expect(kept).toMatchObject({ delayMs: 40_000, crashes: 3, removed: newestExited });
    expect(decideAt(1001, kept)).toMatchObject({ blocked: true, delayMs: 40_000, until: 1_040_000 });
  });
});
