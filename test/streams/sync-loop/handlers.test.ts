import { describe, expect, it } from 'vitest';
import type { PlegEvent } from '../../../src/model/pleg/pleg.js';
import type { Run } from '../../../src/model/pod-workers/pod-worker-run.js';
import type { WorkerOutcome } from '../../../src/streams/pod-workers/pod-workers.js';
import { handleRuntimeChange } from '../../../src/streams/sync-loop/handle-runtime-change.js';
import { handleStop, hasStopped } from '../../../src/streams/sync-loop/handle-stop.js';
import { handleWorkDue } from '../../../src/streams/sync-loop/handle-work-due.js';
import { observeOutcome } from '../../../src/streams/sync-loop/observe-outcome.js';
import { aPod } from '../../support/a-pod.js';
import { brief, loopStage } from '../../support/loop-stage.js';

const withPod = (pod = aPod(), clock = { now: 0 }) => {
  const stage = loopStage({}, clock);
  stage.state.apply({ kind: 'pod-set', pod });
  return { ...stage, clock };
};

describe('a change of the runtime', () => {
  const event = (type: PlegEvent['type'], uid = 'uid-1'): PlegEvent => ({
    pod: { uid, namespace: 'default', name: 'web' },
    type,
    id: 'c1',
    container: 'main',
  });

  it.each([
    { type: 'ContainerStarted' as const, wakes: ['wake uid-1'] },
    { type: 'ContainerDied' as const, wakes: ['wake uid-1'] },
    { type: 'PodSync' as const, wakes: ['wake uid-1'] },
    { type: 'ContainerRemoved' as const, wakes: [] },
  ])('$type: $wakes', ({ type, wakes }) => {
    const stage = withPod();
    expect(brief(handleRuntimeChange(stage.context)(event(type)))).toEqual(wakes);
    expect(stage.pending('uid-1')).toBe(wakes.length > 0 ? 'sync' : undefined);
    expect(stage.records).toMatchObject([{ kind: 'runtime-changed', change: type, containerId: 'c1' }]);
  });

  it.each([
    { message: 'bye', kept: 'bye' },
    { message: `start${'x'.repeat(1024)}`, kept: `…${'x'.repeat(1023)}` },
  ])('goes into the journal with how it ended and the end of what was said', ({ message, kept }) => {
    const stage = withPod();
    handleRuntimeChange(stage.context)({ ...event('ContainerDied'), exitCode: 1, reason: 'OOMKilled', message });
    expect(stage.records).toMatchObject([{ exitCode: 1, reason: 'OOMKilled', message: kept }]);
  });

  it('of a pod that no source wants is left to housekeeping', () => {
    expect(handleRuntimeChange(withPod().context)(event('ContainerDied', 'lost'))).toEqual([]);
  });
});

describe('the tick of the work queue', () => {
  it('wakes the pods that are due, and drops the due work of a pod that no source wants', () => {
    const stage = withPod();
    stage.state.workQueue.enqueue('uid-1', 10, 'why');
    stage.state.workQueue.enqueue('lost', 10, 'why');
    stage.clock.now = 10;
    expect(handleWorkDue(stage.context)()).toEqual([]);
    stage.clock.now = 11;
    expect(brief(handleWorkDue(stage.context)())).toEqual(['wake uid-1']);
    expect(stage.pending('uid-1')).toBe('sync');
    expect(stage.records).toMatchObject([{ kind: 'work-due', causes: ['why'] }]);
    expect(stage.state.workQueue.takeDue(Infinity)).toEqual([]);
  });

  it.each([
    { case: 'it is not past yet', now: 19_999, wakes: [] },
    { case: 'it is reached', now: 20_000, wakes: ['wake uid-1'] },
    { case: 'its pod has ended', now: 30_000, phase: 'Failed', wakes: [] },
    { case: 'its pod is on its way out', now: 30_000, isStopping: true, wakes: [] },
    { case: 'its pod has not started', now: 30_000, hasNotStarted: true, wakes: [] },
  ])('and the active deadline: $case', ({ now, phase = 'Running', isStopping, hasNotStarted, wakes }) => {
    const pod = aPod({ spec: { activeDeadlineSeconds: 20 } });
    const stage = withPod(pod, { now });
    stage.state.apply({
      kind: 'status',
      uid: 'uid-1',
      status: { phase, startTime: hasNotStarted ? undefined : '1970-01-01T00:00:00Z' },
    });
    if (isStopping) stage.state.workers.update({ type: 'kill', pod, causes: [] }, 0);
    expect(brief(handleWorkDue(stage.context)())).toEqual(wakes);
  });

  it.each([
    { case: 'set on by an hour', byMs: 3_600_000 },
    { case: 'set back by an hour', byMs: -3_600_000 },
  ])('counts the time to the deadline while the clock is $case', ({ byMs }) => {
    let aheadMs = 1_000;
    const clock = { now: 0 };
    const stage = loopStage({ wallClock: () => clock.now + aheadMs }, clock);
    stage.state.apply({ kind: 'pod-set', pod: aPod({ spec: { activeDeadlineSeconds: 20 } }) });
    const status = { phase: 'Running', startTime: '1970-01-01T00:00:00Z' };
    stage.state.apply({ kind: 'status', uid: 'uid-1', status });
    const wakesAt = (now: number): readonly string[] => {
      clock.now = now;
      return brief(handleWorkDue(stage.context)());
    };
    expect(wakesAt(0)).toEqual([]);
    aheadMs = byMs;
    expect(wakesAt(18_999)).toEqual([]);
    expect(wakesAt(19_000)).toEqual(['wake uid-1']);
    // Only the start time of the API counts: another one is seen for the first time.
    stage.state.apply({ kind: 'status', uid: 'uid-1', status: { ...status, startTime: new Date(9e12).toISOString() } });
    expect(wakesAt(20_000)).toEqual([]);
  });

  it('looks at a pod once that is both due and late', () => {
    const stage = withPod(aPod({ spec: { activeDeadlineSeconds: 20 } }), { now: 30_000 });
    stage.state.apply({
      kind: 'status',
      uid: 'uid-1',
      status: { phase: 'Running', startTime: '1970-01-01T00:00:00Z' },
    });
    stage.state.workQueue.enqueue('uid-1', 10, 'why');
    expect(brief(handleWorkDue(stage.context)())).toEqual(['wake uid-1']);
  });
});

describe('a request to stop', () => {
  it('kills every pod with the grace that it brings, and is over when all have stopped', () => {
    const stage = withPod();
    stage.state.workers.update({ type: 'create', pod: aPod(), causes: [] }, 0);
    stage.state.workers.start('uid-1', 0);
    expect(brief(handleStop(stage.context)({ reason: 'the node goes down', graceSeconds: 4 }))).toEqual([
      'cancel uid-1',
    ]);
    expect(stage.state.workers.record('uid-1')?.graceSeconds).toBe(4);
    expect(stage.records).toMatchObject([{ kind: 'kill-requested', reason: 'the node goes down', graceSeconds: 4 }]);
    expect(hasStopped(stage.state)).toBe(false);
    stage.state.workers.complete('uid-1', 'sync', { isTerminal: false }, 1);
    stage.state.workers.start('uid-1', 1);
    stage.state.workers.complete('uid-1', 'terminating', { isTerminal: false }, 2);
    expect(hasStopped(stage.state)).toBe(true);
  });

  it('leaves a pod that has stopped alone, such as one that was stopped with its group', () => {
    const stage = withPod();
    const { workers } = stage.state;
    workers.update({ type: 'create', pod: aPod(), causes: [] }, 0);
    workers.start('uid-1', 0);
    workers.update({ type: 'kill', pod: aPod(), kill: {}, causes: [] }, 1);
    workers.complete('uid-1', 'sync', { isTerminal: false }, 1);
    workers.start('uid-1', 1);
    workers.complete('uid-1', 'terminating', { isTerminal: false }, 2);
    expect(brief(handleStop(stage.context)({ reason: 'the node goes down' }))).toEqual([]);
    expect(stage.records).toEqual([]);
  });

  it('is over at once without any pod', () => {
    expect(hasStopped(loopStage().state)).toBe(true);
  });
});

describe('the outcome of a run', () => {
  const run = {
    uid: 'uid-1',
    work: 'sync',
    type: 'create',
    pod: aPod(),
    isFirst: true,
    startedAt: 500,
  } as unknown as Run;
  const outcome = (rest: Partial<WorkerOutcome>): WorkerOutcome => ({
    ...{ uid: 'uid-1', work: 'sync', next: 'rest', durationMs: 1, journalId: 'j7' },
    ...rest,
  });

  it('puts its pod back into the queue for when it is due', () => {
    const stage = loopStage();
    observeOutcome(stage.context)(outcome({ dueAt: 60_000 }));
    expect(stage.state.workQueue.takeDue(60_001)).toEqual([{ uid: 'uid-1', cause: 'j7' }]);
    observeOutcome(stage.context)(outcome({ next: 'exit' }));
    expect(stage.state.workQueue.takeDue(Infinity)).toEqual([]);
  });

  it.each([
    { case: 'the first', rest: { run }, observed: ['podWorker create 1.5', 'containersPerPod 1'] },
    { case: 'a later one', rest: { run: { ...run, isFirst: false } }, observed: ['podWorker create 1.5'] },
    {
      case: 'the last',
      rest: { run: { ...run, isFirst: false }, work: 'terminated' as const },
      observed: ['podWorker terminated 1.5'],
    },
    {
      case: 'one without a request',
      rest: { run: { ...run, isFirst: false, startedAt: undefined } },
      observed: [],
    },
    { case: 'one that could not begin', rest: {}, observed: [] },
  ])('is measured: $case', ({ rest, observed }) => {
    const stage = loopStage({}, { now: 2_000 });
    observeOutcome(stage.context)(outcome(rest));
    expect(stage.observed).toEqual(observed);
  });
});
