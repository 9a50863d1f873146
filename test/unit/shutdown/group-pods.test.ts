import { describe, expect, it } from 'vitest';
import { groupLimitMs, groupPods, shutdownGraceSeconds } from '../../../src/model/shutdown/group-pods.js';
import type { ShutdownGroup } from '../../../src/model/shutdown/shutdown-groups.js';
import { aPod } from '../pods.js';

const groupsOf = (...priorities: readonly number[]): readonly ShutdownGroup[] =>
  priorities.map((priority) => ({ priority, graceSeconds: 10 }));
const podOf = (uid: string, priority?: number) => aPod(priority === undefined ? {} : { priority }, { uid });

describe('the group of a pod', () => {
  it.each<[groups: readonly number[], priority: number | undefined, group: number]>([
    [[0, 2_000_000_000], 1_000, 0],
    [[0, 2_000_000_000], 2_000_001_000, 2_000_000_000],
    [[0, 2_000_000_000], 2_000_000_000, 2_000_000_000],
    [[0, 2_000_000_000], 1_999_999_999, 0],
    [[0, 2_000_000_000], undefined, 0],
    [[0, 2_000_000_000], -5, 0],
    [[100, 500], 50, 100],
    [[100, 500], 100, 100],
    [[100, 500], 499, 100],
    [[100, 500], 500, 500],
    [[100, 500], 501, 500],
    [[100, 500], undefined, 100],
    [[-10, 10], undefined, -10],
    [[7], 3, 7],
    [[7], 9, 7],
  ])('of the groups %j a pod of priority %s is in %i', (priorities, priority, expected) => {
    const found = groupPods(groupsOf(...priorities), [podOf('a', priority)]);
    expect(found).toEqual([{ priority: expected, graceSeconds: 10, pods: [podOf('a', priority)] }]);
  });

  it('groups are in the order of their priorities, without those that have no pods', () => {
    const pods = [podOf('high', 900), podOf('low', 1), podOf('none'), podOf('other', 950)];
    const found = groupPods(groupsOf(0, 100, 500), pods);
    expect(found.map((group) => [group.priority, group.pods.map(({ metadata }) => metadata.uid)])).toEqual([
      [0, ['low', 'none']],
      [500, ['high', 'other']],
    ]);
    expect(groupPods(groupsOf(0, 100), [])).toEqual([]);
  });

  it('of two groups of one priority the first has its pods and the last those above', () => {
    const groups = [
      { priority: 100, graceSeconds: 1 },
      { priority: 100, graceSeconds: 2 },
      { priority: 500, graceSeconds: 3 },
    ];
    const found = groupPods(groups, [podOf('equal', 100), podOf('above', 101), podOf('below', 99)]);
    expect(found.map((group) => [group.graceSeconds, group.pods.map(({ metadata }) => metadata.uid)])).toEqual([
      [1, ['equal', 'below']],
      [2, ['above']],
    ]);
  });
});

describe('the grace period of a pod in a shutdown', () => {
  it.each<[group: number, own: number | undefined, expected: number]>([
    [20, 30, 20],
    [20, 20, 20],
    [20, 5, 5],
    [20, 0, 0],
    [20, undefined, 20],
    [0, 30, 0],
  ])('in a group of %i s a pod with %s s has %i s', (graceSeconds, own, expected) => {
    const pod = aPod(own === undefined ? {} : { terminationGracePeriodSeconds: own });
    expect(shutdownGraceSeconds({ priority: 0, graceSeconds }, pod)).toBe(expected);
  });

  it.each([
    [0, 0],
    [20, 20_000],
    [2_147_483, 2_147_483_000],
    [2_147_484, 2_147_483_647],
  ])('a group of %i s is waited for for %i ms, as long as a timer can be at most', (graceSeconds, expected) => {
    expect(groupLimitMs({ priority: 0, graceSeconds })).toBe(expected);
  });
});
