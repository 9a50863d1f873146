import { describe, expect, it } from 'vitest';
import {
  CONFIG_MIRROR_ANNOTATION,
  type ContainerStatus,
  type Pod,
  type PodCondition,
} from '../../../src/model/pod/pod.js';
import type { PodConfigUpdate } from '../../../src/model/config/pod-config.js';
import { admitPod } from '../../../src/model/admission/admit-pod.js';
import { PodStartTracker } from '../../../src/model/pod-status/pod-start-tracker.js';
import { handleConfig } from '../../../src/streams/sync-loop/handle-config.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import type { LoopContext } from '../../../src/streams/sync-loop/loop-context.js';
import { statusChanges } from '../../../src/streams/status/status-changes.js';
import { aPod } from '../../support/a-pod.js';
import { brief, loopStage } from '../../support/loop-stage.js';
import { nodeFacts } from '../../support/node-facts.js';
import { growth } from '../../support/map-steps.js';

type Op = Extract<PodConfigUpdate, { kind: 'pods' }>['op'];
const update = (op: Op, ...pods: readonly Pod[]): PodConfigUpdate => ({ kind: 'pods', op, source: 'file', pods });
const mirror = aPod({ uid: 'mirror', source: 'api', annotations: { [CONFIG_MIRROR_ANNOTATION]: 'hash' } });

const stageOf = (context: Partial<LoopContext> = {}) => {
  const stage = loopStage(context);
  const handle = handleConfig(stage.context);
  return { ...stage, give: (op: Op, ...pods: readonly Pod[]) => brief(handle(update(op, ...pods))), handle };
};

describe('ADD', () => {
  it('of a part starts its pods, but what it leaves out may be wanted', () => {
    const stage = stageOf();
    const part: PodConfigUpdate = { kind: 'pods', op: 'ADD', source: 'file', pods: [aPod()], isPartial: true };
    expect(brief(stage.handle(part))).toEqual(['wake uid-1']);
    expect(stage.state.sources.all).toBe(false);
    stage.give('ADD');
    expect(stage.state.sources.all).toBe(true);
  });

  it('creates the pods in the order of their creation', () => {
    const at = (uid: string, creationTimestamp: string): Pod => {
      const pod = aPod({ uid, name: uid });
      return { ...pod, metadata: { ...pod.metadata, creationTimestamp } };
    };
    const stage = stageOf();
    const wakes = stage.give('ADD', at('b', '2026-01-02T00:00:00Z'), at('a', '2026-01-01T00:00:00Z'));
    expect(wakes).toEqual(['wake a', 'wake b']);
    expect(stage.pending('a')).toBe('create');
    expect(stage.state.pods.get('a')).toBeDefined();
  });

  it('of a static pod with a class of priority that nothing resolves says so', () => {
    const stage = stageOf();
    const spec = { priorityClassName: 'nosuch' };
    stage.give(
      'ADD',
      aPod({ uid: 'a', name: 'a', source: 'file', spec }),
      aPod({ uid: 'b', name: 'b', source: 'api', spec }),
    );
    expect(stage.logged).toEqual([
      'warn the spec.priorityClassName of a static pod has no effect: no class gives a pod of a manifest a priority, so its priority is 0',
    ]);
  });

  it('of a pod over which the agent fails says so once, and goes on with the others', () => {
    const stage = stageOf({
      admit: ({ metadata: { uid } }) => {
        if (uid === 'bad') throw new TypeError('cannot read that');
        return undefined;
      },
    });
    const pods = ['a', 'bad', 'b'].map((uid) => aPod({ uid, name: uid }));
    expect(stage.give('ADD', ...pods)).toEqual(['wake a', 'wake b']);
    stage.give('ADD', pods[1]!);
    expect(stage.logged).toEqual(['error cannot handle a pod; other pods are not affected']);
    expect(stage.state.sources.all).toBe(true);
  });

  it('asks of each pod whether it may come in beside those that are active by then', () => {
    const beside: string[] = [];
    const stage = stageOf({
      admit: ({ metadata: { uid } }, active) => {
        beside.push(`${uid} beside ${active.map(({ metadata }) => metadata.uid).join('')}`);
        return uid === 'c' ? { reason: 'No', message: 'no' } : undefined;
      },
    });
    const ofUid = (uid: string, phase?: string): Pod => ({
      ...aPod({ uid, name: uid }),
      ...(phase !== undefined && { status: { phase } }),
    });
    stage.give('ADD', ofUid('a'), ofUid('b'));
    stage.give('ADD', ofUid('c'), ofUid('d', 'Succeeded'), ofUid('e'), ofUid('a'));
    expect(beside).toEqual(['a beside ', 'b beside a', 'c beside ab', 'e beside ab', 'a beside be']);
  });

  it('of many pods of which few may come in costs no more for each than one of few', () => {
    const add = (count: number): void => {
      const stage = stageOf({
        admit: (_, active) => (active.length < 4 ? undefined : { reason: 'OutOfpods', message: 'no' }),
      });
      stage.give('ADD', ...Array.from({ length: count }, (_, index) => aPod({ uid: `u${index}`, name: `p${index}` })));
    };
    expect(growth(add, 100)).toBeLessThan(2.1);
  });

  it('of a mirror looks at its static pod again, and is never asked whether it may come in', () => {
    const stage = stageOf({
      admit: (pod) => (pod.metadata.uid === 'mirror' ? { reason: 'No', message: 'no' } : undefined),
    });
    expect(stage.give('ADD', mirror)).toEqual([]);
    stage.give('ADD', aPod());
    expect(stage.give('ADD', mirror)).toEqual(['wake uid-1']);
    expect(stage.pending('uid-1')).toBe('update');
    expect(stage.state.workers.record('mirror')).toBeUndefined();
  });

  it('of a critical pod stops others that make room for it, and has it wait for them', () => {
    const admit = admitPod(() => ({ ...nodeFacts, allocatable: { pods: '1' } }));
    const stage = stageOf({ admit });
    const web = aPod({ uid: 'web', name: 'web', source: 'api' });
    const dns = aPod({ uid: 'dns', name: 'dns' });
    expect(stage.give('ADD', web)).toEqual(['wake web']);
    stage.state.workers.start('web', 0);
    expect(stage.give('ADD', dns)).toEqual(['cancel web', 'wake dns']);
    expect([stage.pending('web'), stage.pending('dns')]).toEqual(['kill', 'create']);
    expect(stage.state.workers.record('web')?.statusOverride?.({ phase: 'Running' })).toMatchObject({
      phase: 'Failed',
      reason: 'Preempting',
      message: 'Preempted in order to admit critical pod',
      conditions: [{ type: 'DisruptionTarget', reason: 'TerminationByKubelet' }],
    });
    expect(stage.state.value.preemptions.waits.get('dns')).toEqual({ pods: [web], since: 0 });
    expect(stage.events).toEqual(['Warning Preempting Preempted in order to admit critical pod']);
    expect(stage.observed).toContain('podPreempted pods');
    expect(stage.records.at(-1)).toEqual({
      kind: 'kill-requested',
      reason: 'it makes room for the critical pod dns_default(dns), for which the node lacks pods 1',
      pod: { uid: 'web', namespace: 'default', name: 'web' },
      causes: ['j4'],
    });
    expect(stage.records.at(-2)).toMatchObject({ kind: 'room-awaited', pods: [{ uid: 'web' }], missing: 'pods 1' });
  });

  it('of a critical pod shows the failure of a less critical static one at once, if that has not begun to run', () => {
    const stage = stageOf({ admit: admitPod(() => ({ ...nodeFacts, allocatable: { pods: '1' } })) });
    const [low, high] = [1, 2].map((priority) =>
      aPod({ uid: `${priority}`, name: `${priority}`, spec: { priority: 2_000_000_000 + priority } }),
    );
    stage.give('ADD', low!);
    stage.give('ADD', high!);
    expect(stage.state.statuses.get('1')).toMatchObject({ phase: 'Failed', reason: 'Preempting' });
    expect(stage.pending('2')).toBe('create');
  });

  it('of a pod that may not come in makes it fail, says why, and gives it no worker', () => {
    const stage = stageOf({ admit: () => ({ reason: 'OutOfpods', message: 'the node is full' }) });
    expect(stage.give('ADD', aPod())).toEqual([]);
    expect(stage.state.pods.get('uid-1')).toBeDefined();
    expect(stage.state.statuses.get('uid-1')).toEqual({
      qosClass: 'BestEffort',
      phase: 'Failed',
      startTime: '1970-01-01T00:00:00Z',
      reason: 'OutOfpods',
      message: 'Pod was rejected: the node is full',
    });
    expect(stage.events).toEqual(['Warning OutOfpods the node is full']);
    expect(stage.observed).toEqual(['admissionRejected OutOfpods']);
    expect(stage.records).toMatchObject([
      { kind: 'config', op: 'ADD' },
      { kind: 'admission-rejected', causes: ['j1'] },
      { kind: 'source-heard', source: 'file' },
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
    stage.state.apply({ kind: 'status', uid: 'a', status: { phase: 'Failed' } });
    stage.give('ADD', aPod({ uid: 'c', name: 'c' }));
    expect(asked).toEqual([['a'], ['b', 'a'], ['c', 'b']]);
  });

  it.each([
    { case: 'has ended', pod: aPod({ phase: 'Succeeded' }) },
    { case: 'is on its way out', pod: aPod(), isStopping: true },
  ])('does not ask again for a pod that $case', ({ pod, isStopping }) => {
    const stage = stageOf({ admit: () => ({ reason: 'No', message: 'no' }) });
    if (isStopping) stage.state.workers.update({ type: 'kill', pod, causes: [] }, 0);
    stage.give('ADD', pod);
    expect(stage.events).toEqual([]);
    expect(stage.state.workers.record('uid-1')).toBeDefined();
  });
});

describe('an operation on a pod that is there', () => {
  const running = (context: Partial<LoopContext> = {}) => {
    const stage = stageOf(context);
    stage.give('ADD', aPod());
    stage.state.workers.start('uid-1', 0);
    return stage;
  };

  it('UPDATE hands the new configuration to its worker, without asking whether it may come in', () => {
    let asked = 0;
    const stage = running({ admit: () => void (asked += 1) });
    expect(stage.give('UPDATE', aPod({ labels: { v: '2' } }))).toEqual(['wake uid-1']);
    expect(stage.state.workers.record('uid-1')?.pending).toMatchObject({
      type: 'update',
      pod: { metadata: { labels: { v: '2' } } },
    });
    expect(asked).toBe(1);
  });

  it('DELETE stops it and keeps it wanted until it has stopped', () => {
    const stage = running();
    const deleted = aPod({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 });
    expect(stage.give('DELETE', deleted)).toEqual(['cancel uid-1']);
    expect(stage.state.pods.get('uid-1')).toBe(deleted);
    expect(stage.state.workers.record('uid-1')).toMatchObject({ graceSeconds: 3, deleted: true });
  });

  it('REMOVE stops it and forgets that it was wanted', () => {
    const stage = running();
    expect(stage.give('REMOVE', aPod())).toEqual(['cancel uid-1']);
    expect(stage.pending('uid-1')).toBe('kill');
    expect(stage.state.pods.get('uid-1')).toBeUndefined();
  });

  it('REMOVE stops it also while another source has sent nothing', () => {
    const stage = running({ state: kubeletState({ sources: ['file', 'http'] }) });
    expect(stage.give('REMOVE', aPod())).toEqual(['cancel uid-1']);
    expect(stage.state.workers.isTerminationRequested('uid-1')).toBe(true);
    expect(stage.state.pods.get('uid-1')).toBeUndefined();
  });

  it('REMOVE of its mirror looks at it again, and does not stop it', () => {
    const stage = running();
    stage.give('ADD', mirror);
    expect(stage.give('REMOVE', mirror)).toEqual(['wake uid-1']);
    expect(stage.state.workers.isTerminationRequested('uid-1')).toBe(false);
  });

  it('RECONCILE notes the new status and wakes no worker', () => {
    const stage = running();
    const echoed = aPod({ phase: 'Running' });
    expect(stage.give('RECONCILE', echoed)).toEqual([]);
    expect(stage.state.pods.get('uid-1')).toBe(echoed);
  });
});

it('a rejected pod does not count for others, also while its worker ends it after an UPDATE', () => {
  const beside: string[] = [];
  const stage = stageOf({
    admit: ({ metadata: { uid } }, active) => {
      beside.push(`${uid} beside ${active.map(({ metadata }) => metadata.uid).join()}`);
      return uid === 'large' ? { reason: 'OutOfcpu', message: 'no' } : undefined;
    },
  });
  const [large, small, other] = ['large', 'small', 'other'].map((uid) => aPod({ uid, name: uid })) as [Pod, Pod, Pod];
  stage.give('ADD', large);
  stage.give('UPDATE', aPod({ uid: 'large', name: 'large', labels: { a: 'b' } }));
  stage.give('ADD', small);
  const { workers } = stage.state;
  workers.start('large', 0);
  workers.complete('large', 'sync', { isTerminal: true }, 0);
  expect(workers.isTerminationRequested('large')).toBe(true);
  stage.give('ADD', other);
  expect(beside).toEqual(['large beside ', 'small beside ', 'other beside small']);
});

it('a rejected pod that comes again, and is admitted, counts', () => {
  let isFull = true;
  const stage = stageOf({ admit: () => (isFull ? { reason: 'OutOfcpu', message: 'no' } : undefined) });
  stage.give('ADD', aPod());
  expect([...stage.state.value.rejected]).toEqual(['uid-1']);
  stage.give('REMOVE', aPod());
  stage.state.apply({ kind: 'statuses-retained', uids: new Set() });
  expect(stage.state.value.rejected.size).toBe(0);
  stage.give('ADD', aPod());
  isFull = false;
  stage.give('ADD', aPod());
  expect(stage.state.value.rejected.size).toBe(0);
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
    stage.state.workers.start('uid-1', 0);
    expect(stage.give('RECONCILE', gated([notReady]))).toEqual([]);
    expect(stage.give('RECONCILE', gated([notReady, gate]))).toEqual(['wake uid-1']);
    expect(stage.pending('uid-1')).toBe('sync');
    stage.state.workers.start('uid-1', 0);
    expect(stage.give('RECONCILE', gated([{ type: 'Ready', status: 'True' }, gate]))).toEqual([]);
    expect(stage.give('RECONCILE', gated([{ type: 'Ready', status: 'True' }]))).toEqual(['wake uid-1']);
  });

  it('with a new version in the API is passed to the status writer, and so is the pod of a mirror', () => {
    const stage = stageOf();
    const told: string[] = [];
    statusChanges(stage.state).subscribe((uid) => told.push(uid));
    stage.give('ADD', aPod());
    expect(told).toEqual([]);
    for (const op of ['ADD', 'UPDATE', 'RECONCILE', 'DELETE', 'REMOVE'] as const) stage.give(op, mirror);
    expect(told).toEqual(['uid-1', 'uid-1', 'uid-1', 'uid-1', 'uid-1']);
    stage.give('DELETE', aPod());
    expect(told).toHaveLength(6);
  });

  it('that starts is measured once, when the API has its status and the watch shows it', () => {
    const clock = { now: 0 };
    const podStarts = new PodStartTracker();
    const stage = loopStage({ podStarts }, clock);
    const handle = handleConfig(stage.context);
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
  it('counts as ready with its first update, even one without pods', () => {
    const stage = stageOf();
    expect(stage.state.sources.all).toBe(false);
    stage.give('ADD');
    expect(stage.state.sources.all).toBe(true);
  });

  it('counts as ready only once its update has been handled', () => {
    const heard: boolean[] = [];
    const stage = loopStage();
    const handle = handleConfig({ ...stage.context, admit: () => void heard.push(stage.state.sources.all) });
    handle(update('ADD', aPod()));
    expect([heard, stage.state.sources.all]).toEqual([[false], true]);
  });

  it.each([
    { severity: 'error' as const, kinds: ['config-problem'], logged: ['error hm'] },
    { severity: 'warning' as const, kinds: ['config-problem'], logged: ['warn hm'] },
    { severity: 'info' as const, kinds: ['config-recovered'], logged: ['info hm'] },
    { severity: 'debug' as const, kinds: [], logged: ['debug hm'] },
  ])('that has a problem ($severity) says so, and is not ready by that', ({ severity, kinds, logged }) => {
    const stage = stageOf();
    const wakes = stage.handle({ kind: 'problem', source: 'file', problem: { severity, message: 'hm' } });
    expect(wakes).toEqual([]);
    expect(stage.records.map(({ kind }) => kind)).toEqual(kinds);
    expect(stage.logged).toEqual(logged);
    expect(stage.state.sources.all).toBe(false);
  });
});

describe('REFRESH', () => {
  it('wakes the worker of the pod', () => {
    const stage = stageOf();
    stage.give('ADD', aPod());
    expect(stage.give('REFRESH', aPod())).toEqual(['wake uid-1']);
  });

  it('of a rejected pod starts no worker', () => {
    const stage = stageOf({ admit: () => ({ reason: 'NoRoom', message: 'no room' }) });
    expect(stage.give('ADD', aPod())).toEqual([]);
    expect(stage.give('REFRESH', aPod())).toEqual([]);
    expect(stage.state.workers.record('uid-1')).toBeUndefined();
  });
});

describe('objects', () => {
  const objects = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b', uid: 'c' } }] as const;

  it('are kept for the pods of their source, and wake no worker by themselves', () => {
    const kept: unknown[] = [];
    const stage = stageOf({ setObjects: (...args) => kept.push(args) });
    expect(stage.handle({ kind: 'objects', source: 'file', objects })).toEqual([]);
    expect(kept).toEqual([['file', objects]]);
    expect(stage.state.sources.all).toBe(false);
  });

  it('are not used in a cluster', () => {
    expect(stageOf().handle({ kind: 'objects', source: 'file', objects })).toEqual([]);
  });
});
