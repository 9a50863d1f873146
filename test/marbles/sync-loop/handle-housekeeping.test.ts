import { describe, expect, it } from 'vitest';
import { type Pod, podRef } from '../../../src/model/pod/pod.js';
import type { RuntimePod } from '../../../src/model/pleg/runtime-pod.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { handleHousekeeping } from '../../../src/streams/sync-loop/handle-housekeeping.js';
import { aPod } from '../../support/a-pod.js';
import { brief, loopStage } from '../../support/loop-stage.js';
import { expectLanes } from '../lanes.js';

const MINUTE = 60_000;
const running = (uid: string): RuntimePod => ({ uid, name: 'lost', namespace: 'default', items: [], observedAt: 0 });

const stageOf = (...wanted: readonly Pod[]) => {
  const clock = { now: 0 };
  const stage = loopStage({}, clock);
  stage.state.apply({ kind: 'source-ready', source: 'file' });
  for (const pod of wanted) stage.state.apply({ kind: 'pod-set', pod });
  const handle = handleHousekeeping(stage.context);
  return { ...stage, clock, pass: (...pods: readonly RuntimePod[]) => brief(handle(pods)) };
};
type Stage = ReturnType<typeof stageOf>;
const created = ({ context }: Stage, pod: Pod) => {
  context.state.workers.update({ type: 'create', pod, causes: [] }, 0);
  context.state.workers.start(pod.metadata.uid, 0);
  context.state.workers.complete(pod.metadata.uid, 'sync', { isTerminal: false }, 0);
};
const finished = (stage: Stage, pod: Pod) => {
  const { uid } = pod.metadata;
  created(stage, pod);
  stage.state.workers.update({ type: 'kill', pod, causes: [] }, 0);
  for (const work of ['terminating', 'terminated'] as const) {
    stage.state.workers.start(uid, 0);
    stage.state.workers.complete(uid, work, { isTerminal: false }, 0);
  }
};

describe('a round of housekeeping', () => {
  it('leaves a pod alone that is wanted and has a worker', () => {
    const stage = stageOf(aPod());
    created(stage, aPod());
    expect(stage.pass(running('uid-1'))).toEqual([]);
  });

  it('stops a pod that no source wants any more, and says so once', () => {
    const stage = stageOf();
    created(stage, aPod());
    stage.clock.now = 5;
    expect(stage.pass()).toEqual(['wake uid-1']);
    stage.clock.now = 2_005;
    expect(stage.pass()).toEqual(['wake uid-1']);
    expect(stage.records.map((record) => record.kind === 'housekeeping' && record.finding)).toEqual([
      'no source wants the pod any more: it is stopped',
    ]);
  });

  it('forgets a finished pod that no source wants, and its status', () => {
    const stage = stageOf();
    finished(stage, aPod());
    stage.state.apply({ kind: 'status', uid: 'uid-1', status: { phase: 'Failed' } });
    expect(stage.pass()).toEqual([]);
    expect(stage.records).toEqual([{ kind: 'forgotten', pod: podRef(aPod()), causes: [] }]);
    expect(stage.state.statuses.get('uid-1')).toBeUndefined();
  });

  it('keeps the status of a pod that is wanted', () => {
    const stage = stageOf(aPod());
    created(stage, aPod());
    stage.state.apply({ kind: 'status', uid: 'uid-1', status: { phase: 'Running' } });
    stage.pass();
    expect(stage.state.statuses.get('uid-1')).toEqual({ phase: 'Running' });
  });

  it('creates a pod that is wanted and has no worker, and counts that', () => {
    const stage = stageOf(aPod());
    expect(stage.pass()).toEqual(['wake uid-1']);
    expect(stage.pending('uid-1')).toBe('create');
    expect(stage.observed).toContain('podRestarted true');
  });

  it('starts a pod without the status of a former one of its UID, also of one that failed', () => {
    const stage = stageOf(aPod());
    finished(stage, aPod());
    stage.state.apply({ kind: 'status', uid: 'uid-1', status: { phase: 'Failed' }, isFinished: true });
    stage.state.workers.update({ type: 'create', pod: aPod(), causes: [] }, 0);
    expect(stage.pass()).toEqual(['wake uid-1']);
    expect(stage.records.map(({ kind }) => kind)).toEqual(['housekeeping']);
    expect(stage.state.statuses.get('uid-1')).toBeUndefined();
  });

  it('starts a pod over whose UID came back while its former self was stopping, in one round', () => {
    const stage = stageOf(aPod());
    finished(stage, aPod());
    stage.state.workers.update({ type: 'create', pod: aPod(), causes: [] }, 0);
    expect(stage.pass()).toEqual(['wake uid-1']);
    expect(stage.records.map(({ kind }) => kind)).toEqual(['housekeeping']);
  });

  it('does not create a pod that has ended', () => {
    const stage = stageOf(aPod());
    stage.state.apply({ kind: 'status', uid: 'uid-1', status: { phase: 'Failed' } });
    expect(stage.pass()).toEqual([]);
  });

  it.each([
    {
      case: 'is deleted, has ended and does not run',
      isDeleted: true,
      phase: 'Failed',
      runs: false,
      is: ['wake uid-1'],
    },
    { case: 'still runs', isDeleted: true, phase: 'Failed', runs: true, is: ['wake uid-1'], orphan: true },
    { case: 'is not deleted', isDeleted: false, phase: 'Failed', runs: false, is: [] },
  ])('cleans up after a rejected pod that $case', ({ isDeleted, phase, runs, is, orphan = false }) => {
    const stage = stageOf(aPod(isDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}));
    stage.state.apply({ kind: 'status', uid: 'uid-1', status: { phase } });
    expect(stage.pass(...(runs ? [running('uid-1')] : []))).toEqual(is.map((line) => line.replace('wake', 'cancel')));
    expect(stage.observed.includes('orphanedRuntimePod')).toBe(orphan);
  });

  it('stops an unknown running pod with 1 s of grace', () => {
    const stage = stageOf();
    expect(stage.pass(running('lost'))).toEqual(['cancel lost']);
    expect(stage.state.workers.record('lost')).toMatchObject({
      graceSeconds: 1,
      pending: { type: 'kill', kill: { graceSeconds: 1 } },
    });
    expect(stage.observed).toContain('orphanedRuntimePod');
    // The next pass sees it running still: its worker is at it.
    expect(stage.state.workers.start('lost', 0).kind).toBe('run');
    stage.pass(running('lost'));
    expect(stage.observed.filter((line) => line === 'orphanedRuntimePod').length).toBe(1);
  });

  describe('while a source has sent nothing', () => {
    const retained: string[][] = [];
    const waiting = () => {
      const stage = loopStage({ state: kubeletState({ sources: ['file', 'http'] }) });
      const handle = handleHousekeeping(stage.context, (uids) => retained.push([...uids]));
      return { ...stage, pass: (...pods: readonly RuntimePod[]) => brief(handle(pods)) };
    };

    it('stops nothing that it does not know, and keeps all probes and contents', () => {
      const stage = waiting();
      expect(stage.pass(running('lost'))).toEqual([]);
      expect(retained).toEqual([]);
      expect(stage.state.workers.shouldContentBeRemoved('lost')).toBe(false);
      for (const source of ['file', 'http'] as const) stage.state.apply({ kind: 'source-ready', source });
      expect(stage.pass(running('lost'))).toEqual(['cancel lost']);
      expect(retained).toEqual([[]]);
    });

    it('forgets a pod that has ended, and starts the one that has its name now', () => {
      const clock = { now: 0 };
      const stage = { ...waiting(), clock };
      const [old, next] = [aPod(), aPod({ uid: 'uid-2' })];
      finished(stage, old);
      stage.state.apply({ kind: 'pod-set', pod: next });
      expect(stage.pass()).toEqual(['wake uid-2']);
      expect(stage.records).toContainEqual({ kind: 'forgotten', pod: podRef(old), causes: [] });
    });
  });

  it('leaves alone what a later revision of the pod is stopping', () => {
    const stage = stageOf();
    stage.state.workers.reserveKill('earlier');
    expect(stage.pass(running('earlier'))).toEqual([]);
    stage.state.workers.releaseKill('earlier');
    expect(stage.pass(running('earlier'))).toEqual(['cancel earlier']);
    // From now on it has a worker of its own.
    expect(stage.state.workers.reserveKill('earlier')).toBe(false);
  });

  it('counts what is wanted, what is active, and what its workers do', () => {
    const other = aPod({ uid: 'api', name: 'api', source: 'api' });
    const stage = stageOf(aPod(), other);
    created(stage, aPod());
    finished(stage, other);
    stage.pass();
    expect(stage.observed.find((line) => line.startsWith('pods '))).toBe(
      `pods ${JSON.stringify({
        desired: { static: 1, other: 1 },
        active: { static: 1, other: 0 },
        working: [
          { lifecycle: 'sync', config: 'desired', static: 'true', count: 1 },
          { lifecycle: 'terminated', config: 'desired', static: '', count: 1 },
        ],
      })}`,
    );
  });

  it('counts the ephemeral containers in the specifications of what is wanted', () => {
    const ephemeralContainers = (...names: readonly string[]) => names.map((name) => ({ name }));
    const two = aPod({ spec: { ephemeralContainers: ephemeralContainers('sh', 'strace') } });
    const one = aPod({ uid: 'uid-2', name: 'other', spec: { ephemeralContainers: ephemeralContainers('sh') } });
    const stage = stageOf(two, one, aPod({ uid: 'uid-3', name: 'none' }));
    stage.pass();
    expect(stage.observed.filter((line) => line.startsWith('ephemeral'))).toEqual(['ephemeralContainers 3']);
    stage.state.apply({ kind: 'pod-removed', pod: two });
    stage.pass();
    expect(stage.observed.findLast((line) => line.startsWith('ephemeral'))).toBe('ephemeralContainers 1');
  });

  it('forgets back-offs of images after ten idle minutes, of containers after twenty', () => {
    const stage = stageOf();
    const { pulls, apply } = stage.state;
    const entry = { delayMs: 10_000, lastUpdate: 0 };
    apply({ kind: 'restart-backed-off', key: 'container', entry });
    pulls.ended('image', { entry, failure: { reason: 'ErrImagePull', message: 'no' } });
    const sizes = (): readonly number[] => {
      const { backOffs } = stage.state.value;
      return [backOffs.restarts.size, backOffs.pulls.size, backOffs.pullFailures.size];
    };
    const history: string[] = [];
    for (; stage.clock.now <= 21 * MINUTE; stage.clock.now += 2_000) {
      const before = sizes();
      stage.pass();
      const after = sizes();
      ['container', 'image', 'failure'].forEach((what, index) => {
        if (after[index] !== before[index]) history.push(`${stage.clock.now} ${what}`);
      });
    }
    // Passes come every 2 s. The pass of the exact time still keeps them.
    expectLanes(history, { everyMs: 2_000 }).toBe({
      image: '    602s i 598s -',
      failure: '  602s f 598s -',
      container: '602s - 598s c',
    });
  });
});
