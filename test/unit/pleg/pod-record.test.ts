import { describe, expect, it } from 'vitest';
import { recordOf } from '../../../src/model/pleg/pleg.js';
import {
  foldRead,
  foldRemoval,
  isSpent,
  newPodRecord,
  nextStep,
  type PodRecord,
  withHint,
  withListing,
  withReadBegun,
  withReadFailed,
  withRequest,
} from '../../../src/model/pleg/pod-record.js';
import { PodRecords } from '../../../src/model/pleg/pod-records.js';
import {
  emptyPodStatus,
  type RuntimeContainerState,
  type RuntimeItem,
  type RuntimePodStatus,
} from '../../../src/model/pleg/runtime-pod.js';
import { toRuntimePodStatus } from '../../../src/model/cri/runtime-pod-status.js';
import { aContainerStatus, aSandboxStatus } from '../cri-fixtures.js';

const ref = { uid: 'a', namespace: 'ns', name: 'pod' };
const running = toRuntimePodStatus(
  ref,
  [aSandboxStatus('a', 's')],
  [{ status: aContainerStatus('c'), sandboxId: 's' }],
);
const ended: RuntimePodStatus = {
  ...running,
  sandboxes: running.sandboxes.map((sandbox) => ({ ...sandbox, state: 'SANDBOX_NOTREADY' })),
  containers: running.containers.map((container) => ({ ...container, state: 'exited' })),
};
const gone = emptyPodStatus(ref);

const itemsOf = (status: RuntimePodStatus): readonly RuntimeItem[] => [...recordOf(status).values()];
const read = (status: RuntimePodStatus, at: number, before = newPodRecord(ref)): PodRecord =>
  foldRead(withReadBegun(before, at), status).record;
const typesOf = ({ events }: { readonly events: readonly { readonly type: string; readonly id: string }[] }) =>
  events.map(({ type, id }) => `${type} ${id}`.trim());

const unknown = newPodRecord(ref);
const runs = read(running, 10);
const hasEnded = read(ended, 10);
const failed = withReadFailed(withReadBegun(runs, 20));
const inFlight = withReadBegun(runs, 20);

describe('the step that is due for a pod', () => {
  const RELISTED_AT = 30;
  const rows: readonly (readonly [text: string, record: PodRecord, step: string])[] = [
    ['a pod with no work', runs, 'none'],
    ['a hint', withHint(runs), 'read'],
    ['a hint of an unknown pod', withHint(unknown), 'read'],
    ['a request before the last relist', withRequest(runs, 29), 'none'],
    ['a request in the millisecond of the last relist', withRequest(runs, 30), 'read'],
    ['a listing of a new pod', withListing(unknown, itemsOf(running), 30), 'read'],
    ['a listing that shows the pod as known', withListing(runs, itemsOf(running), 30), 'none'],
    ['a listing with another state', withListing(runs, itemsOf(ended), 30), 'read'],
    ['a listing without a pod that ran', withListing(runs, [], 30), 'read'],
    ['a listing without a pod that had ended', withListing(hasEnded, [], 30), 'remove'],
    ['the same with a hint', withHint(withListing(hasEnded, [], 30)), 'read'],
    ['an unchanged listing after a read that failed', withListing(failed, itemsOf(running), 30), 'read'],
    ['a listing older than the last read', withListing(runs, itemsOf(ended), 9), 'none'],
    ['a listing as old as the last read', withListing(runs, itemsOf(ended), 10), 'read'],
    ['a listing without the pod, as old as the last read', withListing(hasEnded, [], 10), 'none'],
    ['a listing older than the read in flight', withListing(inFlight, itemsOf(ended), 19), 'none'],
    ['an unchanged listing during a read', withListing(inFlight, itemsOf(running), 21), 'none'],
    [
      'the same after that read showed another state',
      foldRead(withListing(inFlight, itemsOf(running), 21), ended).record,
      'read',
    ],
    ['the begin of a read, which does all work', withReadBegun(withHint(withRequest(runs, 31)), 32), 'none'],
  ];
  it.each(rows)('%s', (_, record, step) => expect(nextStep(record, RELISTED_AT)).toBe(step));
});

describe('a read', () => {
  const rows: readonly (readonly [text: string, before: PodRecord, status: RuntimePodStatus, events: string[]])[] = [
    ['of a new pod', unknown, running, ['ContainerStarted s', 'ContainerStarted c']],
    ['without a change', runs, running, []],
    ['without a change, after one that failed', failed, running, ['PodSync']],
    ['with a change, after one that failed', failed, ended, ['ContainerDied s', 'ContainerDied c']],
    ['that finds nothing of a pod that had ended', hasEnded, gone, ['ContainerRemoved s', 'ContainerRemoved c']],
    ['that finds nothing of a pod without items, after one that failed', withReadFailed(unknown), gone, ['PodSync']],
  ];
  it.each(rows)('%s', (_, before, status, events) => {
    const folded = foldRead(withReadBegun(before, 40), status);
    expect(typesOf(folded)).toEqual(events);
    expect(folded.hasChanged).toBe(events.some((event) => event !== 'PodSync'));
    expect(folded.record).toMatchObject({ knownAt: 40, readingSince: undefined, hasFailed: false });
  });

  it('names a pod that only a hint named', () => {
    const hinted = newPodRecord({ uid: 'a', namespace: '', name: '' });
    expect(read(running, 40, hinted).ref).toEqual(ref);
  });

  it('that failed leaves the known items and their time', () => {
    expect(failed).toEqual({ ...runs, hasFailed: true });
  });

  it('leaves work that came during it', () => {
    expect(nextStep(foldRead(withHint(inFlight), running).record, 0)).toBe('read');
  });
});

describe('a removal by a listing', () => {
  it('has the time of the listing, and the events of the items', () => {
    const folded = foldRemoval(withListing(hasEnded, [], 30));
    expect(typesOf(folded)).toEqual(['ContainerRemoved s', 'ContainerRemoved c']);
    expect(folded.record).toMatchObject({ knownAt: 30, due: undefined });
  });
});

it.each([
  { what: 'known items', record: runs, isForgotten: false },
  { what: 'a read that failed', record: withReadFailed(unknown), isForgotten: false },
  { what: 'due work', record: withHint(unknown), isForgotten: false },
  { what: 'nothing', record: read(gone, 20, runs), isForgotten: true },
])('a pod with $what is forgotten: $isForgotten', ({ record, isForgotten }) => {
  expect(isSpent(record)).toBe(isForgotten);
});

describe('all pods', () => {
  const pod = (uid: string, state: RuntimeContainerState) => ({
    ...{ uid, namespace: 'ns', name: uid, observedAt: 0 },
    items: [{ kind: 'container' as const, id: uid, name: 'c', state, createdAt: 1n, sandboxId: 's', attempt: 0 }],
  });

  it('have due work in the order of the listing, and then the missing ones', () => {
    const records = new PodRecords();
    expect(records.relisted([pod('x', 'exited'), pod('y', 'exited')], 1)).toEqual(['x', 'y']);
    for (const uid of ['x', 'y']) {
      records.readBegins(uid, 2);
      records.readEnded(uid, { ...ended, sandboxes: [], containers: [{ ...ended.containers[0]!, id: uid }] });
    }
    expect(records.relisted([pod('x', 'exited'), pod('y', 'exited')], 3)).toEqual([]);
    expect(records.relisted([pod('z', 'running'), pod('y', 'running')], 4)).toEqual(['z', 'y', 'x']);
    expect(['x', 'y', 'z', 'other'].map((uid) => records.takeStep(uid))).toEqual(['remove', 'read', 'read', undefined]);
  });

  it('are behind after a relist or a read that failed, until the next that succeeds', () => {
    const records = new PodRecords();
    const behind = [records.isBehind];
    const then = (act: () => unknown) => (act(), behind.push(records.isBehind));
    then(() => records.relistFailed());
    then(() => records.relisted([pod('x', 'running')], 1));
    then(() => records.readBegins('x', 2));
    then(() => records.readFailed('x'));
    then(() => records.relisted([pod('x', 'running')], 3));
    then(() => records.readBegins('x', 4));
    then(() => records.readEnded('x', running));
    expect(behind).toEqual([false, true, false, false, true, true, true, false]);
  });

  it('are read with the items that last ran', () => {
    const records = new PodRecords();
    records.hint('a');
    expect(records.readBegins('a', 1)).toEqual({ ref: { uid: 'a', namespace: '', name: '' }, ran: [] });
    records.readEnded('a', running);
    expect(records.readBegins('a', 2).ran.map(({ id }) => id)).toEqual(['s', 'c']);
  });

  it('are forgotten at the end of a step when they are gone and nothing is due', () => {
    const records = new PodRecords();
    records.hint('a');
    records.readBegins('a', 1);
    records.hint('a');
    records.readEnded('a', gone);
    expect([records.stepEnded('a'), [...records.uids]]).toEqual([false, ['a']]);
    records.readBegins('a', 2);
    records.readEnded('a', gone);
    expect([records.stepEnded('a'), [...records.uids]]).toEqual([true, []]);
  });
});
