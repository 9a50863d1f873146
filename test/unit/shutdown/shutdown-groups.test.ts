import { describe, expect, it } from 'vitest';
import {
  SHUTDOWN_RULES,
  type ShutdownFields,
  type ShutdownGroup,
  shutdownGroups,
  shutdownSeconds,
} from '../../../src/model/shutdown/shutdown-groups.js';

const OFF: ShutdownFields = {
  shutdownGracePeriodMs: 0,
  shutdownGracePeriodCriticalPodsMs: 0,
  shutdownGracePeriodByPodPriority: [],
};
const periods = (...pairs: readonly (readonly [priority: number, seconds: number])[]): Partial<ShutdownFields> => ({
  shutdownGracePeriodByPodPriority: pairs.map(([priority, seconds]) => ({
    priority,
    shutdownGracePeriodSeconds: seconds,
  })),
});
const both = (wholeMs: number, criticalMs: number): Partial<ShutdownFields> => ({
  shutdownGracePeriodMs: wholeMs,
  shutdownGracePeriodCriticalPodsMs: criticalMs,
});

describe('the groups of a shutdown', () => {
  it.each<[string, Partial<ShutdownFields>, readonly (readonly [number, number])[]]>([
    ['without periods there are none', {}, []],
    [
      'the whole period is split at the critical pods',
      both(30_000, 10_000),
      [
        [0, 20],
        [2_000_000_000, 10],
      ],
    ],
    [
      'a period that is for critical pods alone leaves none for others',
      both(10_000, 10_000),
      [
        [0, 0],
        [2_000_000_000, 10],
      ],
    ],
    [
      'a period without critical pods leaves none for them',
      both(30_000, 0),
      [
        [0, 30],
        [2_000_000_000, 0],
      ],
    ],
    [
      'fractions of seconds are cut off',
      both(3_500, 1_000),
      [
        [0, 2],
        [2_000_000_000, 1],
      ],
    ],
    ['a period by priority is a group', periods([100, 10]), [[100, 10]]],
    [
      'groups are sorted by priority',
      periods([500, 5], [-10, 60], [100, 10]),
      [
        [-10, 60],
        [100, 10],
        [500, 5],
      ],
    ],
    [
      'equal priorities keep their order',
      periods([100, 1], [0, 3], [100, 2]),
      [
        [0, 3],
        [100, 1],
        [100, 2],
      ],
    ],
    ['periods by priority win', { ...both(30_000, 10_000), ...periods([100, 10]) }, [[100, 10]]],
  ])('%s', (_, fields, expected) => {
    const groups = expected.map(([priority, graceSeconds]): ShutdownGroup => ({ priority, graceSeconds }));
    expect(shutdownGroups({ ...OFF, ...fields })).toEqual(groups);
  });

  it('a shutdown takes at most the sum of all groups', () => {
    expect(shutdownSeconds(shutdownGroups({ ...OFF, ...periods([100, 10], [0, 180], [100_000, 60]) }))).toBe(250);
    expect(shutdownSeconds(shutdownGroups({ ...OFF, ...both(30_000, 10_000) }))).toBe(30);
    expect(shutdownSeconds([])).toBe(0);
  });
});

describe('the rules of the periods of a shutdown', () => {
  const problems = (fields: Partial<ShutdownFields>): readonly string[] =>
    SHUTDOWN_RULES.map((rule) => rule({ ...OFF, ...fields })).filter((problem) => problem !== false);

  it.each<[Partial<ShutdownFields>, readonly string[]]>([
    [{}, []],
    [both(1_000, 0), []],
    [both(1_000, 1_000), []],
    [both(30_000, 10_000), []],
    [periods([100, 10], [0, 0]), []],
    [both(999, 0), ['shutdownGracePeriod 999ms must be either zero or otherwise >= 1 sec']],
    [
      both(-1_000, -1_000),
      [
        'shutdownGracePeriod -1s must be either zero or otherwise >= 1 sec',
        'shutdownGracePeriodCriticalPods -1s must be either zero or otherwise >= 1 sec',
      ],
    ],
    [both(2_000, 500), ['shutdownGracePeriodCriticalPods 500ms must be either zero or otherwise >= 1 sec']],
    [both(30_000, 30_001), ['shutdownGracePeriodCriticalPods 30.001s must be <= shutdownGracePeriod 30s']],
    [
      { ...both(30_000, 0), ...periods([100, 10]) },
      ['Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time'],
    ],
    [
      { ...both(0, 10_000), ...periods([100, 10]) },
      [
        'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time',
        'shutdownGracePeriodCriticalPods 10s must be <= shutdownGracePeriod 0s',
      ],
    ],
    [
      periods([100, 10], [0, -1], [5, -2]),
      ['shutdownGracePeriodByPodPriority[1].shutdownGracePeriodSeconds -1 must not be negative'],
    ],
  ])('the fields %j have the problems %j', (fields, expected) => expect(problems(fields)).toEqual(expected));
});
