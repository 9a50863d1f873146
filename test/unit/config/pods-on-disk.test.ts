import { describe, expect, it } from 'vitest';
import {
  foldPodsOnDisk,
  isWriteUrgent,
  podsOnDisk,
  type PodsOnDisk,
  type PodsOnDiskEvent,
  waitBeforeWrite,
  waitsForDisk,
} from '../../../src/model/config/pods-on-disk.js';
import type { Pod } from '../../../src/model/pod/pod.js';

interface Known {
  readonly pods: readonly Pod[];
}

/** A set of pods by their letters. */
const setOf = (letters: string): Known => ({
  pods: [...letters].map((uid): Pod => ({
    metadata: { uid, name: uid, namespace: 'default' },
    spec: { containers: [] },
  })),
});
const lettersOf = ({ newest }: PodsOnDisk<Known>): string =>
  (newest?.pods ?? []).map(({ metadata }) => metadata.uid).join('');

const arrived = (letters: string): PodsOnDiskEvent<Known> => ({ kind: 'arrived', known: setOf(letters) });
const begun = (nextAt: number): PodsOnDiskEvent<Known> => ({ kind: 'write-begun', nextAt });
const written = (letters: string): PodsOnDiskEvent<Known> => ({ kind: 'written', known: setOf(letters) });
const failed = (letters: string, nextAt: number): PodsOnDiskEvent<Known> => ({
  ...{ kind: 'write-failed', known: setOf(letters) },
  nextAt,
});
const late: PodsOnDiskEvent<Known> = { kind: 'write-late' };

const after = (onDisk: string, ...events: readonly PodsOnDiskEvent<Known>[]): PodsOnDisk<Known> =>
  events.reduce(foldPodsOnDisk, podsOnDisk<Known>(onDisk));

describe('the newest set of pods', () => {
  it.each([
    ['nothing has arrived', after('a'), '', false],
    ['a set has arrived', after('a', arrived('a')), 'a', true],
    ['its write has begun', after('a', arrived('a'), begun(9)), 'a', false],
    ['another one arrives during the write', after('a', arrived('a'), begun(9), arrived('ab')), 'ab', true],
    ['its write has ended', after('a', arrived('a'), begun(9), written('a')), 'a', false],
    ['its write has failed', after('a', arrived('a'), begun(9), failed('a', 20)), 'a', true],
    [
      'the write of an earlier one has failed',
      after('a', arrived('a'), begun(9), arrived('b'), failed('a', 20)),
      'b',
      true,
    ],
  ])('after "%s" is the last one that arrived, and waits for a write unless one has begun', (_, state, letters, is) => {
    expect([lettersOf(state), state.isUnwritten]).toEqual([letters, is]);
  });
});

describe('a set of pods', () => {
  it.each([
    ['waits', 'ab', 'without a write of its new pod', after('a', arrived('ab'))],
    ['waits', 'ab', 'during the write of an earlier set', after('', arrived('a'), begun(9), arrived('ab'))],
    [
      'waits',
      'ab',
      'after the write of an earlier set',
      after('', arrived('a'), begun(9), arrived('ab'), written('a')),
    ],
    ['waits', 'ab', 'with a new pod that the newest set has', after('a', arrived('ab'), arrived('bc'))],
    ['passes', 'ab', 'with a new pod that the newest set does not have', after('a', arrived('ab'), arrived('a'))],
    ['passes', 'ab', 'after its write', after('a', arrived('ab'), begun(9), written('ab'))],
    ['passes', 'ab', 'after its failed write', after('a', arrived('ab'), begun(9), failed('ab', 9))],
    ['passes', 'a', 'without a new pod', after('a', arrived('a'))],
    ['passes', '', 'without any pod', after('', arrived(''))],
  ])('%s: the set %j %s', (verdict, letters, _, state) => {
    expect(waitsForDisk(state, setOf(letters))).toBe(verdict === 'waits');
  });
});

describe('the next write', () => {
  it.each([
    ['of the first set is due at once', after('a', arrived('a')), 0],
    ['waits for its time', after('a', arrived('a'), begun(1_005), written('a'), arrived('a')), 1_000],
    ['with a new pod is urgent', after('a', arrived('a'), begun(1_005), written('a'), arrived('ab')), 0],
    ['with a pod whose write has failed waits', after('', arrived('a'), begun(1_005), failed('a', 10_005)), 10_000],
    ['with a pod that came after a failed write is urgent', after('', arrived('a'), failed('a', 99), arrived('ab')), 0],
    ['whose time is over is due at once', after('a', arrived('a'), begun(4), written('a'), arrived('a')), 0],
  ])('%s', (_, state, waitMs) => {
    expect(waitBeforeWrite(state, 5)).toBe(waitMs);
  });

  it('is urgent for a new pod that no write has begun with', () => {
    expect(isWriteUrgent(after('', arrived('a')))).toBe(true);
    expect(isWriteUrgent(after('', arrived('a'), begun(9)))).toBe(false);
    expect(isWriteUrgent(after(''))).toBe(false);
  });
});

it('a write is late until it has ended', () => {
  const begunLate = [arrived('a'), begun(9), late];
  expect(after('', ...begunLate).isLate).toBe(true);
  expect(after('', ...begunLate, arrived('ab')).isLate).toBe(true);
  expect(after('', ...begunLate, written('a')).isLate).toBe(false);
  expect(after('', ...begunLate, failed('a', 9)).isLate).toBe(false);
});
