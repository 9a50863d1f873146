import { describe, expect, it } from 'vitest';
import { PodWorkerRegistry } from '../../../src/model/pod-workers/pod-worker-registry.js';
import { podRef } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';
import { create, kill, OK, runningPod, runOf, update, wake, withSyncedPod } from './registry-parts.js';

describe('the life of a pod', () => {
  it('goes from sync over terminating and terminated to finished, and back only after it is forgotten', () => {
    const pod = aPod();
    const registry = withSyncedPod(pod);
    const queries = () => ({
      could: registry.couldHaveRunningContainers('uid-1'),
      requested: registry.isTerminationRequested('uid-1'),
      finished: registry.shouldBeFinished('uid-1'),
    });
    const no = { could: true, requested: false, finished: false };
    expect(queries()).toEqual(no);

    expect(registry.update(kill(pod), 2)).toEqual([wake('uid-1', true)]);
    expect(queries()).toEqual({ ...no, requested: true });
    expect(runOf(registry.start('uid-1', 2))).toMatchObject({ work: 'terminating', graceSeconds: 30 });

    expect(registry.complete('uid-1', 'terminating', OK, 3)).toEqual({
      next: 'advance',
      own: wake('uid-1'),
      others: [],
    });
    expect(queries()).toEqual({
      could: false,
      requested: true,
      finished: false,
    });
    expect(runOf(registry.start('uid-1', 3))).toMatchObject({ work: 'terminated' });

    expect(registry.complete('uid-1', 'terminated', OK, 4)).toEqual({ next: 'exit', others: [] });
    expect(queries()).toEqual({
      could: false,
      requested: true,
      finished: true,
    });
    expect(registry.update(update(pod), 5)).toEqual([]);

    expect(registry.syncKnownPods(new Set(), 6)).toEqual({ known: new Map(), wakes: [], forgotten: [podRef(pod)] });
    expect(registry.record('uid-1')).toBeUndefined();
    expect(registry.update(create(pod), 7)).toEqual([wake('uid-1')]);
  });

  it('stops a pod that says it is terminal, without a grace period of the agent', () => {
    const registry = new PodWorkerRegistry();
    registry.update(create(aPod()), 0);
    registry.start('uid-1', 0);
    expect(registry.complete('uid-1', 'sync', { isTerminal: true }, 1).next).toBe('advance');
    const run = runOf(registry.start('uid-1', 1));
    expect(run.work).toBe('terminating');
    expect(run.graceSeconds).toBeUndefined();
  });

  it.each([
    { why: 'a deletion timestamp', pod: aPod({ deletionTimestamp: '2026-01-01T00:00:00Z' }), deleted: true },
    { why: 'a terminal phase of a pod that still runs', pod: aPod({ phase: 'Failed' }), deleted: false },
  ])('stops a pod because of $why', ({ pod, deleted }) => {
    const registry = new PodWorkerRegistry(() => false);
    registry.update(create(aPod()), 0);
    expect(registry.update(update(pod), 1)).toEqual([wake('uid-1', true)]);
    expect(registry.record('uid-1')).toMatchObject({ terminatingAt: 1, deleted });
  });

  it('takes a terminal pod of which nothing runs as terminated at first sight', () => {
    const registry = new PodWorkerRegistry(() => true);
    registry.update(create(aPod({ phase: 'Succeeded', source: 'api' })), 5);
    expect(registry.isKnownTerminated('uid-1')).toBe(true);
    expect(runOf(registry.start('uid-1', 5)).work).toBe('terminated');
  });

  it('marks a pod as evicted only by the kill that stops it', () => {
    const pod = aPod();
    const first = withSyncedPod(pod);
    first.update(update(pod, { type: 'kill', kill: { evict: true } }), 2);
    expect(first.shouldContentBeRemoved('uid-1')).toBe(true);
    const later = withSyncedPod(pod);
    later.update(kill(pod), 2);
    later.update(update(pod, { type: 'kill', kill: { evict: true } }), 3);
    expect(later.shouldContentBeRemoved('uid-1')).toBe(false);
  });
});

describe('a run that is unfinished', () => {
  const unfinished = { isTerminal: false, isUnfinished: true };

  it('is followed by another one at once, with the pod that it had', () => {
    const pod = aPod();
    const registry = withSyncedPod(pod);
    registry.update(update(pod, { causes: ['a'] }), 10);
    registry.start('uid-1', 10);
    expect(registry.complete('uid-1', 'sync', unfinished, 11).next).toBe('again');
    expect(runOf(registry.start('uid-1', 11))).toMatchObject({ type: 'sync', pod, causes: ['a'] });
    expect(registry.complete('uid-1', 'sync', OK, 12).next).toBe('rest');
  });

  it('is followed by what waits already', () => {
    const registry = withSyncedPod(aPod());
    registry.update(update(aPod()), 10);
    registry.start('uid-1', 10);
    registry.update(kill(aPod(), 5), 11);
    expect(registry.complete('uid-1', 'sync', unfinished, 12).next).toBe('again');
    expect(runOf(registry.start('uid-1', 12))).toMatchObject({ work: 'terminating', graceSeconds: 5 });
  });
});

describe('updates that meet a busy worker', () => {
  it('keeps only the newest, with the causes of all and the earliest start', () => {
    const pod = aPod();
    const registry = withSyncedPod(pod);
    registry.update(update(pod, { causes: ['a'], startedAt: 10 }), 10);
    registry.update(update(aPod({ labels: { v: '2' } }), { type: 'update', causes: ['b'], startedAt: 20 }), 20);
    const run = runOf(registry.start('uid-1', 21));
    expect(run).toMatchObject({ type: 'update', causes: ['a', 'b'], startedAt: 10 });
    expect(run.pod?.metadata.labels).toEqual({ v: '2' });
    expect(registry.start('uid-1', 22)).toEqual({ kind: 'idle' });
  });

  it('never loses a kill to a later update', () => {
    const pod = aPod();
    const registry = withSyncedPod(pod);
    registry.update(kill(pod, 5), 2);
    expect(registry.update(update(pod), 3)).toEqual([wake('uid-1', false)]);
    expect(runOf(registry.start('uid-1', 4))).toMatchObject({ work: 'terminating', graceSeconds: 5 });
  });

  it('cancels again only when the grace period shrinks', () => {
    const pod = aPod();
    const registry = withSyncedPod(pod);
    expect(registry.update(kill(pod, 20), 2)).toEqual([wake('uid-1', true)]);
    expect(registry.update(kill(pod, 25), 3)).toEqual([wake('uid-1', false)]);
    expect(registry.update(kill(pod, 3), 4)).toEqual([wake('uid-1', true)]);
    expect(runOf(registry.start('uid-1', 5)).graceSeconds).toBe(3);
  });

  it('applies the last status override on every attempt, until the containers have stopped', () => {
    const pod = aPod();
    const registry = withSyncedPod(pod);
    const [one, two] = [
      (status: object) => ({ ...status, reason: 'One' }),
      (status: object) => ({ ...status, reason: 'Two' }),
    ];
    registry.update(update(pod, { type: 'kill', kill: { statusOverride: one } }), 2);
    registry.update(update(pod, { type: 'kill', kill: { statusOverride: two } }), 3);
    expect(runOf(registry.start('uid-1', 4)).statusOverride?.({})).toEqual({ reason: 'Two' });
    registry.complete('uid-1', 'terminating', { error: new Error('busy') }, 5);
    registry.update(update(pod), 6);
    expect(runOf(registry.start('uid-1', 6)).statusOverride?.({})).toEqual({ reason: 'Two' });
    registry.complete('uid-1', 'terminating', OK, 7);
    expect(runOf(registry.start('uid-1', 7)).statusOverride).toBeUndefined();
  });

  it('starts a reused UID over, once its former pod is finished and forgotten', () => {
    const pod = aPod();
    const registry = withSyncedPod(pod);
    registry.update(kill(pod), 2);
    expect(registry.update(create(pod), 3)).toEqual([]);
    expect(registry.syncKnownPods(new Set(['uid-1']), 4).known.has('uid-1')).toBe(true);
    registry.start('uid-1', 4);
    registry.complete('uid-1', 'terminating', OK, 5);
    registry.start('uid-1', 5);
    registry.complete('uid-1', 'terminated', OK, 6);
    const { known, wakes, forgotten } = registry.syncKnownPods(new Set(['uid-1']), 7);
    expect([known.size, wakes, forgotten]).toEqual([0, [], [podRef(pod)]]);
    expect(registry.update(create(pod), 8)).toEqual([wake('uid-1')]);
  });
});

describe('a wake', () => {
  it('carries the update that waits for the worker, with the causes of the ones that it replaces', () => {
    const pod = aPod();
    const registry = new PodWorkerRegistry();
    registry.update(update(pod, { type: 'create', causes: ['a'] }), 0);
    const [first] = registry.update(update(pod, { causes: ['b'] }), 1);
    expect(first?.update).toMatchObject({ type: 'sync', pod, causes: ['a', 'b'] });
    registry.start('uid-1', 2);
    const [second] = registry.update(update(pod, { causes: ['c'] }), 3);
    expect(second?.update.causes).toEqual(['c']);
    expect(registry.complete('uid-1', 'sync', OK, 4).own?.update).toBe(second?.update);
  });

  it('of the next phase carries the update of the phase before', () => {
    const pod = aPod();
    const registry = withSyncedPod(pod);
    registry.update(kill(pod), 2);
    registry.start('uid-1', 2);
    expect(registry.complete('uid-1', 'terminating', OK, 3).own?.update).toMatchObject({ type: 'sync', pod });
  });
});

describe('pods of which only the runtime knows', () => {
  it('are stopped and forgotten at once', () => {
    const registry = new PodWorkerRegistry();
    const lost = runningPod('lost');
    expect(registry.update({ type: 'kill', runningPod: lost, kill: { graceSeconds: 1 }, causes: [] }, 0)).toEqual([
      wake('lost', true),
    ]);
    const run = runOf(registry.start('lost', 0));
    expect(run).toMatchObject({ work: 'terminating', runningPod: lost, graceSeconds: 1 });
    expect(run.pod).toBeUndefined();
    expect(registry.complete('lost', 'terminating', OK, 1)).toEqual({
      next: 'exit',
      others: [],
      forgotten: { uid: 'lost', name: 'lost', namespace: 'default' },
    });
    expect(registry.record('lost')).toBeUndefined();
  });

  it('take only kills', () => {
    const registry = new PodWorkerRegistry();
    expect(registry.update({ type: 'sync', runningPod: runningPod('lost'), causes: [] }, 0)).toEqual([]);
  });

  it('are worked on with the configuration that is known of them after all', () => {
    const pod = aPod();
    const registry = withSyncedPod(pod);
    registry.update({ type: 'kill', runningPod: runningPod('uid-1'), causes: [] }, 2);
    expect(runOf(registry.start('uid-1', 2))).toMatchObject({ work: 'terminating', pod, runningPod: undefined });
  });
});

describe('the stop of a pod that no worker works on', () => {
  it('is reserved once', () => {
    const registry = new PodWorkerRegistry();
    expect(registry.reserveKill('uid-1')).toBe(true);
    expect([registry.isKillReserved('uid-1'), registry.reserveKill('uid-1')]).toEqual([true, false]);
    registry.releaseKill('uid-1');
    expect([registry.isKillReserved('uid-1'), registry.reserveKill('uid-1')]).toEqual([false, true]);
  });

  it('can be reserved while the worker waits for its turn', () => {
    const [first, second] = [aPod({ uid: 'first' }), aPod({ uid: 'second' })];
    const registry = new PodWorkerRegistry();
    for (const pod of [first, second]) registry.update(create(pod), 0);
    expect([registry.start('first', 0).kind, registry.start('second', 0).kind]).toEqual(['run', 'not-yet']);
    expect([registry.reserveKill('first'), registry.reserveKill('second')]).toEqual([false, true]);
  });

  it('cannot be reserved while the worker stops the pod, without a known configuration', () => {
    const registry = new PodWorkerRegistry();
    registry.update({ type: 'kill', runningPod: runningPod('lost'), causes: [] }, 0);
    expect(registry.reserveKill('lost')).toBe(false);
  });
});

describe('known pods', () => {
  it('stops an orphan with what is left of its own grace period, and tries again in every round', () => {
    const pod = aPod();
    const registry = withSyncedPod(pod);
    const first = registry.syncKnownPods(new Set(), 5);
    expect(first.wakes).toEqual([wake('uid-1')]);
    expect(first.known.get('uid-1')).toEqual({ work: 'terminating', isOrphan: true, hasConfig: true, isStatic: true });
    expect(registry.record('uid-1')).toMatchObject({ deleted: true, graceSeconds: 30 });
    const run = runOf(registry.start('uid-1', 5));
    expect(run.graceSeconds).toBeUndefined();
    registry.complete('uid-1', 'terminating', { error: new Error('no runtime') }, 6);
    expect(registry.syncKnownPods(new Set(), 7).wakes).toEqual([wake('uid-1')]);
    expect(runOf(registry.start('uid-1', 7)).work).toBe('terminating');
  });

  it('forgets an orphan that never started', () => {
    const registry = withSyncedPod(aPod({ uid: 'old' }));
    registry.update(create(aPod({ uid: 'new' })), 1);
    const { known, forgotten } = registry.syncKnownPods(new Set(['old']), 2);
    expect([...known.keys()]).toEqual(['old']);
    expect(forgotten.map(({ uid }) => uid)).toEqual(['new']);
  });

  it('answers for unknown pods only after the first round', () => {
    const registry = new PodWorkerRegistry();
    const answers = () => [
      registry.isKnownTerminated('x'),
      registry.couldHaveRunningContainers('x'),
      registry.shouldBeFinished('x'),
      registry.isTerminationRequested('x'),
      registry.shouldContentBeRemoved('x'),
    ];
    expect(answers()).toEqual([false, true, false, false, false]);
    registry.syncKnownPods(new Set(), 0);
    expect(answers()).toEqual([false, false, true, false, true]);
  });

  it('keeps nothing of pods that came and went', () => {
    const registry = withSyncedPod(aPod());
    registry.syncKnownPods(new Set(), 2);
    registry.start('uid-1', 2);
    registry.complete('uid-1', 'terminating', OK, 3);
    registry.start('uid-1', 3);
    registry.complete('uid-1', 'terminated', OK, 4);
    registry.syncKnownPods(new Set(), 5);
    expect([...registry.records()]).toEqual([]);
  });
});
