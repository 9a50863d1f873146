import { describe, expect, it } from 'vitest';
import { CONFIG_MIRROR_ANNOTATION, type ContainerStatus, type Pod, type PodCondition } from '../../../src/model/pod.js';
import type { PodConfigUpdate } from '../../../src/model/pod-config.js';
import { PodStartTracker } from '../../../src/model/pod-start-tracker.js';
import { SourcesReady } from '../../../src/model/sources-ready.js';
import { handleConfig } from '../../../src/streams/sync-loop/handle-config.js';
import type { LoopDesk } from '../../../src/streams/sync-loop/loop-desk.js';
import { aPod } from '../../support/a-pod.js';
import { brief, loopStage } from '../../support/loop-stage.js';

type Op = Extract<PodConfigUpdate, { kind: 'pods' }>['op'];
const update = (op: Op, ...pods: readonly Pod[]): PodConfigUpdate => ({ kind: 'pods', op, source: 'file', pods });
const mirror = aPod({ uid: 'mirror', source: 'api', annotations: { [CONFIG_MIRROR_ANNOTATION]: 'hash' } });

const stageOf = (desk: Partial<LoopDesk> = {}) => {
  const stage = loopStage(desk);
  const handle = handleConfig(stage.desk);
  return { ...stage, give: (op: Op, ...pods: readonly Pod[]) => brief(handle(update(op, ...pods))), handle };
};

describe('ADD', () => {
  it('creates the pods in the order of their creation', () => {
    const at = (uid: string, creationTimestamp: string): Pod => {
      const pod = aPod({ uid, name: uid });
      return { ...pod, metadata: { ...pod.metadata, creationTimestamp } };
    };
    const stage = stageOf();
    const wakes = stage.give('ADD', at('b', '2026-01-02T00:00:00Z'), at('a', '2026-01-01T00:00:00Z'));
    expect(wakes).toEqual(['wake a', 'wake b']);
    expect(stage.pending('a')).toBe('create');
    expect(stage.desk.pods.get('a')).toBeDefined();
  });

  it('of a mirror looks at its static pod again, and is never asked whether it may come in', () => {
    const stage = stageOf({
      admit: (pod) => (pod.metadata.uid === 'mirror' ? { reason: 'No', message: 'no' } : undefined),
    });
    expect(stage.give('ADD', mirror)).toEqual([]);
    stage.give('ADD', aPod());
    expect(stage.give('ADD', mirror)).toEqual(['wake uid-1']);
    expect(stage.pending('uid-1')).toBe('update');
    expect(stage.desk.workers.record('mirror')).toBeUndefined();
  });

  it('of a pod that may not come in makes it fail, says why, and gives it no worker', () => {
    const stage = stageOf({ admit: () => ({ reason: 'OutOfpods', message: 'the node is full' }) });
    expect(stage.give('ADD', aPod())).toEqual([]);
    expect(stage.desk.pods.get('uid-1')).toBeDefined();
    expect(stage.desk.statuses.get('uid-1')).toEqual({
      qosClass: 'BestEffort',
      phase: 'Failed',
      startTime: '1970-01-01T00:00:00Z',
      reason: 'OutOfpods',
      message: 'Pod was rejected: the node is full',
    });
    expect(stage.events).toEqual(['Warning OutOfpods the node is full']);
    expect(stage.records).toMatchObject([
      { kind: 'config', op: 'ADD' },
      { kind: 'admission-rejected', causes: ['j1'] },
    ]);
  });

  it('asks with the other active pods, never with the pod itself nor with one that has ended', () => {
    const asked: string[][] = [];
    const stage = stageOf({
      admit: (pod, active) => {
        asked.push([pod.metadata.uid, ...active.map(({ metadata }) => metadata.uid)]);
        return undefined;
      },
    });
    stage.give('ADD', aPod({ uid: 'a', name: 'a' }), aPod({ uid: 'b', name: 'b' }));
    stage.desk.statuses.set('a', { phase: 'Failed' });
    stage.give('ADD', aPod({ uid: 'c', name: 'c' }));
    expect(asked).toEqual([['a'], ['b', 'a'], ['c', 'b']]);
  });

  it.each([
    { case: 'has ended', pod: aPod({ phase: 'Succeeded' }) },
    { case: 'is on its way out', pod: aPod(), isStopping: true },
  ])('does not ask again for a pod that $case', ({ pod, isStopping }) => {
    const stage = stageOf({ admit: () => ({ reason: 'No', message: 'no' }) });
    if (isStopping) stage.desk.workers.update({ type: 'kill', pod, causes: [] }, 0);
    stage.give('ADD', pod);
    expect(stage.events).toEqual([]);
    expect(stage.desk.workers.record('uid-1')).toBeDefined();
  });
});

describe('an operation on a pod that is there', () => {
  const running = (desk: Partial<LoopDesk> = {}) => {
    const stage = stageOf(desk);
    stage.give('ADD', aPod());
    stage.desk.workers.start('uid-1', 0);
    return stage;
  };

  it('UPDATE hands the new configuration to its worker, without asking whether it may come in', () => {
    let asked = 0;
    const stage = running({ admit: () => void (asked += 1) });
    expect(stage.give('UPDATE', aPod({ labels: { v: '2' } }))).toEqual(['wake uid-1']);
    expect(stage.desk.workers.record('uid-1')?.pending).toMatchObject({
      type: 'update',
      pod: { metadata: { labels: { v: '2' } } },
    });
    expect(asked).toBe(1);
  });

  it('DELETE stops it and keeps it wanted until it has stopped', () => {
    const stage = running();
    const deleted = aPod({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 });
    expect(stage.give('DELETE', deleted)).toEqual(['cancel uid-1']);
    expect(stage.desk.pods.get('uid-1')).toBe(deleted);
    expect(stage.desk.workers.record('uid-1')).toMatchObject({ graceSeconds: 3, deleted: true });
  });

  it('REMOVE stops it and forgets that it was wanted', () => {
    const stage = running();
    expect(stage.give('REMOVE', aPod())).toEqual(['cancel uid-1']);
    expect(stage.pending('uid-1')).toBe('kill');
    expect(stage.desk.pods.get('uid-1')).toBeUndefined();
  });

  it('REMOVE stops nothing while a source has not been heard', () => {
    const stage = running({ sources: new SourcesReady(['file', 'http']) });
    expect(stage.give('REMOVE', aPod())).toEqual([]);
    expect(stage.desk.workers.isTerminationRequested('uid-1')).toBe(false);
    expect(stage.desk.pods.get('uid-1')).toBeUndefined();
  });

  it('REMOVE of its mirror looks at it again, and does not stop it', () => {
    const stage = running();
    stage.give('ADD', mirror);
    expect(stage.give('REMOVE', mirror)).toEqual(['wake uid-1']);
    expect(stage.desk.workers.isTerminationRequested('uid-1')).toBe(false);
  });

  it('RECONCILE notes the new status and wakes nobody', () => {
    const stage = running();
    const echoed = aPod({ phase: 'Running' });
    expect(stage.give('RECONCILE', echoed)).toEqual([]);
    expect(stage.desk.pods.get('uid-1')).toBe(echoed);
  });
});

describe('a pod of the API', () => {
  const gate = { type: 'example.com/gate', status: 'True' };
  const gated = (conditions: readonly object[]): Pod => ({
    ...aPod({ source: 'api', spec: { readinessGates: [{ conditionType: gate.type }] } }),
    status: {
      phase: 'Running',
      conditions: conditions as PodCondition[],
      containerStatuses: [{ name: 'main', ready: true } as ContainerStatus],
    },
  });
  const notReady = {
    type: 'Ready',
    status: 'False',
    message: `corresponding condition of pod readiness gate "${gate.type}" does not exist.`,
  };

  it('whose readiness gate was opened or closed is looked at again, one of which nothing follows is not', () => {
    const stage = stageOf();
    stage.give('ADD', gated([notReady]));
    stage.desk.workers.start('uid-1', 0);
    expect(stage.give('RECONCILE', gated([notReady]))).toEqual([]);
    expect(stage.give('RECONCILE', gated([notReady, gate]))).toEqual(['wake uid-1']);
    expect(stage.pending('uid-1')).toBe('sync');
    stage.desk.workers.start('uid-1', 0);
    expect(stage.give('RECONCILE', gated([{ type: 'Ready', status: 'True' }, gate]))).toEqual([]);
    expect(stage.give('RECONCILE', gated([{ type: 'Ready', status: 'True' }]))).toEqual(['wake uid-1']);
  });

  it('that the API has something new of is told to whoever writes its status, and so is the pod of a mirror', () => {
    const stage = stageOf();
    const told: string[] = [];
    stage.desk.statuses.onChange((uid) => told.push(uid));
    stage.give('ADD', aPod());
    expect(told).toEqual([]);
    for (const op of ['ADD', 'UPDATE', 'RECONCILE', 'DELETE', 'REMOVE'] as const) stage.give(op, mirror);
    expect(told).toEqual(['uid-1', 'uid-1', 'uid-1', 'uid-1', 'uid-1']);
    stage.give('DELETE', aPod());
    expect(told).toHaveLength(6);
  });

  it('that starts is measured once, when the API has been told and the watch shows it', () => {
    const clock = { now: 0 };
    const podStarts = new PodStartTracker();
    const stage = loopStage({ podStarts }, clock);
    const handle = handleConfig(stage.desk);
    const pod = aPod({ source: 'api' });
    const created: Pod = { ...pod, metadata: { ...pod.metadata, creationTimestamp: '1970-01-01T00:00:00Z' } };
    const running: Pod = {
      ...created,
      status: {
        phase: 'Running',
        startTime: '1970-01-01T00:00:01Z',
        containerStatuses: [
          { name: 'main', state: { running: { startedAt: '1970-01-01T00:00:02Z' } } } as unknown as ContainerStatus,
        ],
      },
    };
    handle({ kind: 'pods', op: 'ADD', source: 'api', pods: [created] });
    podStarts.written(running);
    clock.now = 2_500;
    for (let times = 0; times < 2; times += 1)
      handle({ kind: 'pods', op: 'RECONCILE', source: 'api', pods: [running] });
    expect(stage.observed).toEqual(['podStartObserved 2.5', 'podStartWithoutPulls 2.5', 'firstNetworkPodStart 2.5']);
  });
});

describe('a source', () => {
  it('counts as heard with its first update, even one without pods', () => {
    const stage = stageOf();
    expect(stage.desk.sources.all).toBe(false);
    stage.give('ADD');
    expect(stage.desk.sources.all).toBe(true);
  });

  it('counts as heard only once its update has been handled', () => {
    const heard: boolean[] = [];
    const stage = loopStage();
    const handle = handleConfig({ ...stage.desk, admit: () => void heard.push(stage.desk.sources.all) });
    handle(update('ADD', aPod()));
    expect([heard, stage.desk.sources.all]).toEqual([[false], true]);
  });

  it.each([
    { severity: 'error' as const, kinds: ['config-problem'], logged: ['error hm'] },
    { severity: 'warning' as const, kinds: ['config-problem'], logged: ['warn hm'] },
    { severity: 'info' as const, kinds: ['config-recovered'], logged: ['info hm'] },
    { severity: 'debug' as const, kinds: [], logged: ['debug hm'] },
  ])('that has a problem ($severity) says so, and is not heard by that', ({ severity, kinds, logged }) => {
    const stage = stageOf();
    const deliveries = stage.handle({ kind: 'problem', source: 'file', problem: { severity, message: 'hm' } });
    expect(deliveries).toEqual([]);
    expect(stage.records.map(({ kind }) => kind)).toEqual(kinds);
    expect(stage.logged).toEqual(logged);
    expect(stage.desk.sources.all).toBe(false);
  });
});
