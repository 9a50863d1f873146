import { describe, expect, it } from 'vitest';
import type { RuntimePod } from '../../../src/model/pleg/runtime-pod.js';
import { type Pod, uidsOf } from '../../../src/model/pod/pod.js';
import {
  countPods,
  countWorkingPods,
  deletedAfterRejection,
  mayStillRun,
  newlyOrphaned,
  orphansOf,
  withoutWorker,
} from '../../../src/model/pod-workers/housekeeping.js';
import type { KnownPod } from '../../../src/model/pod-workers/pod-worker-registry.js';
import { newRecord } from '../../../src/model/pod-workers/pod-worker-record.js';
import { aPod } from '../../support/a-pod.js';

const aKnown = (fields: Partial<KnownPod> = {}): KnownPod => ({
  ...{ work: 'sync', isOrphan: false, hasConfig: true, isStatic: false },
  ...fields,
});
const known = (...pods: readonly (readonly [uid: string, fields?: Partial<KnownPod>])[]) =>
  new Map(pods.map(([uid, fields]) => [uid, aKnown(fields)]));
const running = (uid: string): RuntimePod => ({ uid, name: uid, namespace: 'default', items: [], observedAt: 0 });
const uids = (pods: readonly Pod[]): readonly string[] => pods.map(({ metadata }) => metadata.uid);

it('the UIDs of pods are a set, each UID once', () => {
  expect(uidsOf([])).toEqual(new Set());
  expect(uidsOf([aPod({ uid: 'a' }), aPod({ uid: 'b' }), aPod({ uid: 'a' })])).toEqual(new Set(['a', 'b']));
});

it('a pod may still run until its worker has ended it', () => {
  const pods = known(['s'], ['t', { work: 'terminating' }], ['e', { work: 'terminated' }]);
  expect(mayStillRun(pods)).toEqual(new Set(['s', 't']));
  expect(mayStillRun(known())).toEqual(new Set());
});

it('an active pod without a worker is started', () => {
  const active = [aPod({ uid: 'a' }), aPod({ uid: 'b' })];
  expect(uids(withoutWorker(active, known(['b', { work: 'terminated' }])))).toEqual(['a']);
  expect(uids(withoutWorker([], known()))).toEqual([]);
});

describe('a pod that was deleted after its rejection', () => {
  const deleted = aPod({ uid: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' });
  const failed: Pod = { ...deleted, status: { phase: 'Failed' } };

  it.each<{
    case: string;
    pod: Pod;
    phase?: string;
    known?: readonly string[];
    running?: readonly string[];
    found: boolean;
  }>([
    { case: 'has ended by the status of the agent: it is found', pod: deleted, phase: 'Failed', found: true },
    { case: 'has succeeded by the status of the agent: it is found', pod: deleted, phase: 'Succeeded', found: true },
    { case: 'has ended by the status of the API: it is found', pod: failed, found: true },
    { case: 'has not ended: it is not found', pod: deleted, phase: 'Running', found: false },
    { case: 'has no status: it is not found', pod: deleted, found: false },
    { case: 'is not deleted: it is not found', pod: aPod({ uid: 'a', phase: 'Failed' }), found: false },
    { case: 'has a worker: it is not found', pod: failed, known: ['a'], found: false },
    { case: 'runs: it is not found', pod: failed, running: ['a'], found: false },
    { case: 'has ended while other pods run: it is found', pod: failed, known: ['b'], running: ['b'], found: true },
  ])('$case', ({ pod, phase, known: withWorker = [], running: runs = [], found }) => {
    const pods = deletedAfterRejection({
      desired: [pod],
      known: known(...withWorker.map((uid) => [uid] as const)),
      running: runs.map(running),
      phaseOf: (uid) => (uid === 'a' ? phase : 'Failed'),
    });
    expect(uids(pods)).toEqual(found ? ['a'] : []);
  });
});

describe('a running pod', () => {
  it.each<{
    case: string;
    known?: readonly string[];
    records?: readonly string[];
    reserved?: readonly string[];
    isOrphan: boolean;
  }>([
    { case: 'that nothing knows is an orphan', isOrphan: true },
    { case: 'with a worker is no orphan', known: ['a'], isOrphan: false },
    { case: 'with a record that this round has made is no orphan', records: ['a'], isOrphan: false },
    { case: 'that another part stops is no orphan', reserved: ['a'], isOrphan: false },
    { case: 'is an orphan beside the pods of others', known: ['b'], records: ['c'], reserved: ['d'], isOrphan: true },
  ])('$case', ({ known: withWorker = [], records = [], reserved = [], isOrphan }) => {
    const orphans = orphansOf([running('a')], known(...withWorker.map((uid) => [uid] as const)), {
      record: (uid) => (records.includes(uid) ? newRecord(uid, uid, 0) : undefined),
      isKillReserved: (uid) => reserved.includes(uid),
    });
    expect(orphans.map(({ uid }) => uid)).toEqual(isOrphan ? ['a'] : []);
  });
});

describe('an orphan with a worker', () => {
  const pod = aPod({ uid: 'a' });
  const active = { pod, causes: [] };

  it.each([
    { case: 'is found by the round that stops it', record: { active, terminatingAt: 5 }, found: pod },
    { case: 'is not found again by a later round', record: { active, terminatingAt: 4 }, found: undefined },
    { case: 'is not found while it does not stop', record: { active }, found: undefined },
    { case: 'is not found without a configuration', record: { terminatingAt: 5 }, found: undefined },
    { case: 'is not found without a record', record: undefined, found: undefined },
  ])('$case', ({ record, found }) => {
    expect(newlyOrphaned(record, 5)).toBe(found);
  });
});

describe('the counts of housekeeping', () => {
  it('pods are counted as static and other ones', () => {
    const pods = [aPod({ uid: 'a' }), aPod({ uid: 'b', source: 'http' }), aPod({ uid: 'c', source: 'api' })];
    expect(countPods(pods)).toEqual({ static: 2, other: 1 });
    expect(countPods([])).toEqual({ static: 0, other: 0 });
  });

  it.each<[fields: Partial<KnownPod>, lifecycle: string, config: string, statics: string]>([
    [{}, 'sync', 'desired', ''],
    [{ isStatic: true }, 'sync', 'desired', 'true'],
    [{ work: 'terminating', isOrphan: true }, 'terminating', 'orphan', ''],
    [{ work: 'terminating', isOrphan: true, hasConfig: false }, 'terminating', 'runtime_only', 'unknown'],
    [{ work: 'terminated', isStatic: true, isOrphan: true }, 'terminated', 'orphan', 'true'],
  ])('a worker of %j is counted as %s, %s, static %j', (fields, lifecycle, config, statics) => {
    expect(countWorkingPods(known(['a', fields]))).toEqual([{ lifecycle, config, static: statics, count: 1 }]);
  });

  it('workers in the same state are counted together', () => {
    const counts = countWorkingPods(known(['a'], ['b', { work: 'terminated' }], ['c']));
    expect(counts.map(({ lifecycle, count }) => `${count} ${lifecycle}`)).toEqual(['2 sync', '1 terminated']);
    expect(countWorkingPods(known())).toEqual([]);
  });
});
