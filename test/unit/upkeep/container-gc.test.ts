import { describe, expect, it } from 'vitest';
import {
  containersToCollect,
  DEFAULT_CONTAINER_GC,
  exitedOf,
  logsWithoutPod,
  sandboxesToCollect,
  surplusAfterDeath,
} from '../../../src/model/upkeep/container-gc.js';
import type { RuntimeContainerState, RuntimeItem, RuntimePod } from '../../../src/model/pleg/runtime-pod.js';
import { aStatus, exited } from '../pods.js';

/** `web:1#5 exited`: attempt 5 of container web, created at millisecond 1, by default attempt 0; `sandbox` items are named so. */
const item = (text: string, sandboxId = 's'): RuntimeItem => {
  const [who = '', state = ''] = text.split(' ');
  const [name = '', createdAt = '0', attempt = '0'] = who.split(/[:#]/);
  const kind = name === 'sandbox' ? 'sandbox' : 'container';
  return {
    kind,
    id: who,
    name: kind === 'sandbox' ? '' : name,
    state: state as RuntimeContainerState,
    createdAt: BigInt(createdAt) * 1_000_000n,
    attempt: Number(attempt),
    sandboxId: kind === 'sandbox' ? who : sandboxId,
  };
};
const pod = (uid: string, ...items: readonly (string | RuntimeItem)[]): RuntimePod => ({
  ...{ uid, name: uid, namespace: 'default', observedAt: 0 },
  items: items.map((entry) => (typeof entry === 'string' ? item(entry) : entry)),
});

describe('ended containers that go', () => {
  const crashing = pod('a', 'web:1 exited', 'web:2 exited', 'web:3 exited', 'web:4 running', 'init:1 exited');
  const other = pod('b', 'web:5 exited', 'log:6 unknown', 'log:7 created');

  it.each([
    { case: 'all but the newest of each', policy: {}, gone: [], ids: ['web:1', 'web:2', 'log:6'] },
    {
      case: 'all of a pod that is gone, but never what runs',
      policy: {},
      gone: ['a'],
      ids: ['init:1', 'web:1', 'web:2', 'web:3', 'log:6'],
    },
    { case: 'as many as the policy says', policy: { maxPerPodContainer: 2 }, gone: [], ids: ['web:1'] },
    {
      case: 'all when none are kept',
      policy: { maxPerPodContainer: 0 },
      gone: [],
      ids: ['init:1', 'web:1', 'web:2', 'web:3', 'web:5', 'log:6', 'log:7'],
    },
    { case: 'none when all are kept', policy: { maxPerPodContainer: -1 }, gone: [], ids: [] },
    { case: 'only those that are old enough', policy: { minAgeMs: 98 }, gone: [], ids: [] },
    {
      case: 'the oldest, where the node may keep fewer',
      policy: { maxContainers: 2 },
      gone: [],
      ids: ['init:1', 'web:1', 'web:2', 'web:3', 'log:6'],
    },
    {
      case: 'an even share first, where the node may keep some',
      policy: { maxPerPodContainer: -1, maxContainers: 4 },
      gone: [],
      ids: ['web:1', 'web:2', 'log:6'],
    },
  ])('are $case', ({ policy, gone, ids }) => {
    const doomed = containersToCollect({
      pods: [crashing, other],
      policy: { ...DEFAULT_CONTAINER_GC, ...policy },
      isRemovable: (uid) => (gone as readonly string[]).includes(uid),
      now: 100,
    });
    expect(doomed.map(({ item: { id } }) => id).toSorted()).toEqual([...ids].toSorted());
  });

  it('hold no more of what was created and never started than of what has ended: one, and only while it is the newest', () => {
    const gone = (...items: readonly string[]) =>
      containersToCollect({
        ...{ pods: [pod('a', ...items)], policy: DEFAULT_CONTAINER_GC, isRemovable: () => false, now: 100 },
      }).map(({ item: { id } }) => id);
    expect(gone('web:1 created')).toEqual([]);
    expect(gone('web:1 created', 'web:2 running')).toEqual([]);
    expect(gone('web:1 created', 'web:2 created', 'web:3 running')).toEqual(['web:1']);
    expect(gone('web:1 created', 'web:2 exited', 'web:3 running')).toEqual(['web:1']);
  });

  it('are earlier attempts, also when the clock was set back between two, or the name runs in another pod', () => {
    const doomed = containersToCollect({
      pods: [
        pod('a', 'web:90#4 exited', 'web:95#5 exited', 'web:3#6 exited', 'log:1#7 exited', 'web:4#7 running'),
        pod('b', 'web:2#0 exited'),
      ],
      ...{ policy: DEFAULT_CONTAINER_GC, isRemovable: () => false, now: 100 },
    });
    expect(doomed.map(({ item: { id } }) => id)).toEqual(['web:90#4', 'web:95#5']);
  });

  it('do not wait for a clock that was set back', () => {
    const gone = (minAgeMs: number, ...items: readonly string[]) =>
      containersToCollect({
        ...{ pods: [pod('a', ...items)], policy: { ...DEFAULT_CONTAINER_GC, minAgeMs } },
        ...{ isRemovable: () => false, now: 100 },
      }).map(({ item: { id } }) => id);
    expect(gone(0, 'web:5000#1 exited', 'web:6000#2 exited', 'web:90#3 running')).toEqual(['web:5000#1']);
    expect(gone(50, 'web:5000#1 exited', 'web:6000#2 exited', 'web:60#3 exited')).toEqual(['web:5000#1']);
  });

  it('come oldest first', () => {
    const doomed = containersToCollect({
      pods: [other, crashing],
      policy: DEFAULT_CONTAINER_GC,
      isRemovable: () => true,
      now: 100,
    });
    expect(doomed.map(({ item: { createdAt } }) => Number(createdAt / 1_000_000n))).toEqual([1, 1, 2, 3, 5, 6, 7]);
  });
});

describe('sandboxes that go', () => {
  const replaced = pod(
    'a',
    'sandbox:1 exited',
    'sandbox:2 exited',
    'sandbox:3 exited',
    item('web:9 exited', 'sandbox:2'),
  );
  it.each([
    { case: 'all but the newest, unless something is in it', pods: [replaced], gone: [], ids: ['sandbox:1'] },
    {
      case: 'earlier attempts, also when the clock was set back between two',
      pods: [pod('c', 'sandbox:90#0 exited', 'sandbox:95#1 exited', 'sandbox:3#2 exited')],
      gone: [],
      ids: ['sandbox:90#0', 'sandbox:95#1'],
    },
    { case: 'the newest too of a pod that is gone', pods: [replaced], gone: ['a'], ids: ['sandbox:1', 'sandbox:3'] },
    { case: 'never one that is ready', pods: [pod('b', 'sandbox:1 running')], gone: ['b'], ids: [] },
  ])('are $case', ({ pods, gone, ids }) => {
    const doomed = sandboxesToCollect({ pods, isRemovable: (uid) => (gone as readonly string[]).includes(uid) });
    expect(doomed.map(({ id }) => id)).toEqual(ids);
  });
});

it.each([
  { case: 'no directory of logs goes while there is none', names: [], gone: [] },
  { case: 'the logs of a pod of the runtime stay', names: ['default_web_a'], gone: [] },
  { case: 'the logs of other pods go', names: ['default_web_a', 'default_web_b', 'ns_x_c'], gone: ['b', 'c'] },
  { case: 'a name without a UID is a UID', names: ['stray'], gone: ['stray'] },
])('$case', ({ names, gone }) => {
  const found = logsWithoutPod(names, [{ uid: 'a' }]);
  expect(found.map(({ uid }) => uid)).toEqual(gone);
  expect(found.every(({ name, uid }) => names.includes(name) && name.endsWith(uid))).toBe(true);
});

describe('the ended instances of a pod after the death of a container', () => {
  const status = {
    containers: [
      aStatus('web', { id: 'web-4' }),
      exited('web', 1, { id: 'web-3' }),
      exited('log', 0, { id: 'log-1' }),
      exited('web', 1, { id: 'web-2' }),
      aStatus('web', { id: 'web-1', state: 'unknown' }),
      exited('web', 1, { id: 'web-0' }),
    ],
  };

  it('the ended instances are those that have exited, in the order of the status', () => {
    expect(exitedOf(status).map(({ id }) => id)).toEqual(['web-3', 'log-1', 'web-2', 'web-0']);
    expect(exitedOf(undefined)).toEqual([]);
  });

  it.each<{ case: string; kept?: number; container?: string; isRemovable?: boolean; ids: readonly string[] }>([
    { case: 'go except the newest of that container', ids: ['web-2', 'web-0'] },
    { case: 'go except the newest ones of the policy', kept: 2, ids: ['web-0'] },
    { case: 'go except one, also under a policy that keeps none', kept: 0, ids: ['web-2', 'web-0'] },
    { case: 'stay under a policy that keeps all, also of a pod that is gone', kept: -1, isRemovable: true, ids: [] },
    { case: 'stay if there is one', container: 'log', ids: [] },
    { case: 'all go of a pod that is gone', isRemovable: true, ids: ['web-3', 'log-1', 'web-2', 'web-0'] },
  ])('the ended instances $case', ({ kept = 1, container = 'web', isRemovable = false, ids }) => {
    const surplus = surplusAfterDeath({ status, container, policy: { maxPerPodContainer: kept }, isRemovable });
    expect(surplus.map(({ id }) => id)).toEqual(ids);
  });

  it('the ended instances are none of a pod without a status', () => {
    const policy = { maxPerPodContainer: 1 };
    expect(surplusAfterDeath({ status: undefined, container: 'web', policy, isRemovable: true })).toEqual([]);
  });
});
