import { describe, expect, it } from 'vitest';
import { type Pod, podRef } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';
import { create, kill, OK, runOf, wake, withSyncedPod } from './registry-parts.js';

describe('static pods of one full name', () => {
  const [older, newer, newest] = ['old', 'new', 'newest'].map((uid) => aPod({ uid })) as [Pod, Pod, Pod];

  it('wait for each other in order of arrival, and the next is woken by the end of the one before', () => {
    const registry = withSyncedPod(older);
    registry.update(create(newer), 2);
    registry.update(create(newest), 2);
    expect(registry.start('newest', 3)).toMatchObject({ kind: 'not-yet', holder: { uid: 'old' } });
    expect(registry.start('new', 3)).toMatchObject({ kind: 'not-yet', holder: { uid: 'old' } });
    registry.update(kill(older), 4);
    registry.start('old', 4);
    registry.complete('old', 'terminating', OK, 5);
    registry.start('old', 5);
    expect(registry.complete('old', 'terminated', OK, 6).others).toEqual([wake('new')]);
    expect(registry.start('newest', 6)).toMatchObject({ kind: 'not-yet', holder: { uid: 'new' } });
    expect(runOf(registry.start('new', 6)).work).toBe('sync');
  });

  it('skip one that is stopped while it waits: it never runs at all', () => {
    const registry = withSyncedPod(older);
    registry.update(create(newer), 2);
    registry.update(create(newest), 2);
    registry.start('new', 2);
    registry.update(kill(newer), 3);
    expect(registry.start('new', 3).kind).toBe('never');
    expect(registry.shouldBeFinished('new')).toBe(true);
    registry.update(kill(older), 4);
    registry.start('old', 4);
    registry.complete('old', 'terminating', OK, 5);
    registry.start('old', 5);
    expect(registry.complete('old', 'terminated', OK, 6).others).toEqual([wake('newest')]);
  });

  it('are in no pod’s way when they come from the API', () => {
    const registry = withSyncedPod(aPod({ uid: 'a', source: 'api' }));
    registry.update(create(aPod({ uid: 'b', source: 'api' })), 2);
    expect(registry.start('b', 2).kind).toBe('run');
  });

  it('keep a mirror while the one that holds the name is stopping', () => {
    const registry = withSyncedPod(older);
    expect(registry.isTerminatingByFullName('web_default')).toBe(false);
    registry.update(kill(older), 2);
    expect(registry.isTerminatingByFullName('web_default')).toBe(true);
    registry.start('old', 2);
    registry.complete('old', 'terminating', OK, 3);
    expect(registry.isTerminatingByFullName('web_default')).toBe(false);
  });
});

describe('a static pod that is given another namespace', () => {
  const [older, newer] = [aPod({ uid: 'old', namespace: 'one' }), aPod({ uid: 'new', namespace: 'two' })];

  it('starts when the pod in the former namespace has stopped', () => {
    const registry = withSyncedPod(older);
    registry.update(kill(older), 2);
    registry.update(create(newer), 2);
    expect(registry.start('new', 3)).toMatchObject({ kind: 'not-yet', holder: { uid: 'old' } });
    registry.start('old', 4);
    registry.complete('old', 'terminating', OK, 5);
    expect(registry.start('new', 5)).toMatchObject({ kind: 'not-yet', holder: { uid: 'old' } });
    registry.start('old', 5);
    expect(registry.complete('old', 'terminated', OK, 6).others).toEqual([wake('new')]);
    expect(runOf(registry.start('new', 6)).work).toBe('sync');
    expect(registry.syncKnownPods(new Set(), 7).forgotten).toEqual([podRef(older)]);
  });

  it('waits for no other pod', () => {
    const others = [
      { why: 'one that runs on', before: older, stops: false },
      { why: 'one of another name', before: aPod({ uid: 'old', name: 'other', namespace: 'one' }), stops: true },
      { why: 'one of another source', before: aPod({ uid: 'old', namespace: 'one', source: 'http' }), stops: true },
      { why: 'one of the API', before: aPod({ uid: 'old', namespace: 'one', source: 'api' }), stops: true },
    ];
    for (const { why, before, stops } of others) {
      const registry = withSyncedPod(before);
      if (stops) registry.update(kill(before), 2);
      registry.update(create(newer), 2);
      expect([why, registry.start('new', 3).kind]).toEqual([why, 'run']);
    }
  });

  it('never runs when it is removed while it waits', () => {
    const registry = withSyncedPod(older);
    registry.update(kill(older), 2);
    registry.update(create(newer), 2);
    registry.start('new', 3);
    registry.update(kill(newer), 4);
    expect(registry.start('new', 4).kind).toBe('never');
  });
});
