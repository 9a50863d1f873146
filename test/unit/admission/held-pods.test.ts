import { describe, expect, it } from 'vitest';
import {
  afterRead,
  type HeldPods,
  NO_SET,
  releasedPods,
  withRead,
  withSet,
} from '../../../src/model/admission/held-pods.js';
import type { Node } from '../../../src/model/node/node.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';

/** A pod with a capital letter selects a node of the zone of that name. */
const podOf = (uid: string): Pod =>
  aPod({ uid, source: 'api', ...(uid === uid.toUpperCase() && { spec: { nodeSelector: { zone: uid } } }) });
const nodeIn = (zone: string): Node => ({ metadata: { name: 'node-1', labels: { zone } } });
const sets = (...all: readonly string[]): HeldPods =>
  all.reduce((before, letters) => withSet(before, [...letters].map(podOf), nodeIn('-')), NO_SET);
const released = (set: HeldPods): string =>
  releasedPods(set)
    .map(({ metadata }) => metadata.uid)
    .join('');
const held = (set: HeldPods): string => [...set.held].join('');

describe('the pods that wait for the Node', () => {
  it.each<readonly [string, HeldPods, string, string]>([
    ['no pod waits before the first set', NO_SET, '', ''],
    ['all pods of the first set are released', sets('aB'), 'aB', ''],
    ['a new pod whose selectors do not match waits', sets('a', 'abC'), 'ab', 'C'],
    ['a pod that was released before does not wait', sets('B', 'B', 'BC'), 'B', 'C'],
    ['a pod goes on waiting in the next set', sets('', 'B', 'Ba'), 'a', 'B'],
    ['a pod that was removed does not wait', sets('', 'B', 'a'), 'a', ''],
    ['a new pod whose selectors match is released', withSet(sets(''), [podOf('B')], nodeIn('B')), 'B', ''],
    ['a pod is released while no Node is known', withSet(sets(''), [podOf('B')], undefined), 'B', ''],
    ['a waiting pod is released by a set after the Node', withSet(sets('', 'B'), [podOf('B')], nodeIn('B')), 'B', ''],
    ['a pod that waits is released by the end of its read', afterRead(withRead(sets('', 'aB'))), 'aB', ''],
  ])('%s', (_, set, passing, waiting) => expect([released(set), held(set)]).toEqual([passing, waiting]));

  it.each<readonly [string, Pod]>([
    ['has started', { ...podOf('B'), status: { startTime: '2026-01-01T00:00:00Z' } }],
    ['has ended', { ...podOf('B'), status: { phase: 'Failed' } }],
    [
      'is being deleted',
      aPod({ uid: 'B', spec: { nodeSelector: { zone: 'B' } }, deletionTimestamp: '2026-01-01T00:00:00Z' }),
    ],
  ])('a pod that %s does not wait', (_, pod) => expect(released(withSet(sets(''), [pod], nodeIn('-')))).toBe('B'));

  it('a pod that arrives during a read waits for the next one', () => {
    const duringRead = withSet(withRead(sets('', 'B')), ['B', 'C'].map(podOf), nodeIn('-'));
    expect(held(duringRead)).toBe('BC');
    const after = afterRead(duringRead);
    expect([released(after), held(after)]).toEqual(['B', 'C']);
    expect([...(withRead(after).read ?? [])]).toEqual(['C']);
  });

  it('no read begins while one runs, or while no pod waits', () => {
    const reading = withRead(sets('', 'B'));
    expect(withRead(reading)).toBe(reading);
    const none = sets('', 'a');
    expect(withRead(none)).toBe(none);
  });
});
