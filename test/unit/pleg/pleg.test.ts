import { describe, expect, it } from 'vitest';
import {
  countRunning,
  EVENTED_PLEG,
  plegChanges,
  plegEvents,
  plegHealth,
  type PlegState,
  preserveIps,
  recordOf,
  showsNoChange,
} from '../../../src/model/pleg/pleg.js';
import type { RuntimeContainerState, RuntimeItem, RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { toRuntimePodStatus } from '../../../src/model/cri/runtime-pod-status.js';
import { aContainerStatus, aSandboxStatus } from '../cri-fixtures.js';

const ref = { uid: 'a', namespace: 'ns', name: 'pod' };
const item = (id: string, state: RuntimeContainerState): RuntimeItem => ({
  kind: 'container',
  id,
  name: `name-${id}`,
  state,
  createdAt: 1n,
  sandboxId: 's',
  attempt: 0,
});
const record = (...items: RuntimeItem[]) => new Map(items.map((one) => [one.id, one]));

describe('the state table', () => {
  const states = ['running', 'exited', 'unknown', 'non-existent'] as const satisfies readonly PlegState[];
  // old state, then what comes out when it becomes running, exited, unknown, non-existent
  const table = {
    'non-existent': ['Started', 'Died', 'Changed', ''],
    running: ['', 'Died', 'Changed', 'Died Removed'],
    exited: ['Started', '', 'Changed', 'Removed'],
    unknown: ['Started', 'Died', '', 'Died Removed'],
  };
  const rows = Object.entries(table).flatMap(([old, row]) =>
    row.map((types, index) => ({ old: old as PlegState, now: states[index] ?? 'unknown', types })),
  );
  const seen = (state: PlegState) => (state === 'non-existent' ? record() : record(item('c', state)));

  it.each(rows)('$old to $now gives "$types"', ({ old, now, types }) => {
    const changes = plegChanges(seen(old), seen(now));
    expect(changes.map(({ type }) => type)).toEqual(
      types === '' ? [] : types.split(' ').map((type) => `Container${type}`),
    );
    expect(changes.every(({ item: { id }, state }) => id === 'c' && state === now)).toBe(true);
    const isSame = now === 'non-existent' ? showsNoChange(seen(old), []) : showsNoChange(seen(old), [item('c', now)]);
    expect(isSame).toBe(types === '');
  });
});

it('takes a created container for an unknown one', () => {
  expect(plegChanges(record(item('c', 'unknown')), record(item('c', 'created')))).toEqual([]);
  expect(showsNoChange(record(item('c', 'created')), [item('c', 'unknown')])).toBe(true);
});

it('reports every item, the known ones first', () => {
  const old = record(item('gone', 'running'), item('kept', 'running'));
  const now = record(item('new', 'running'), item('kept', 'exited'));
  expect(plegChanges(old, now).map(({ type, item: { id } }) => `${id} ${type}`)).toEqual([
    'gone ContainerDied',
    'gone ContainerRemoved',
    'kept ContainerDied',
    'new ContainerStarted',
  ]);
});

it.each([
  { what: 'another id', items: [item('d', 'running')], same: false },
  { what: 'one more', items: [item('c', 'running'), item('d', 'running')], same: false },
  { what: 'another order', items: [item('c', 'running')], same: true },
])('sees that a listing has $what', ({ items, same }) => {
  expect(showsNoChange(record(item('c', 'running')), items)).toBe(same);
});

describe('events', () => {
  const status = toRuntimePodStatus(
    ref,
    [aSandboxStatus('a', 's', { state: 'SANDBOX_NOTREADY' })],
    [{ status: aContainerStatus('c', { state: 'CONTAINER_EXITED', exitCode: 3 }), sandboxId: 's' }],
  );

  it('carry the container, its state and its exit code', () => {
    const events = plegEvents(ref, plegChanges(record(item('c', 'running')), recordOf(status)), status);
    expect(events).toEqual([
      { pod: ref, type: 'ContainerDied', id: 'c', container: 'container-c', state: 'exited', exitCode: 3 },
      { pod: ref, type: 'ContainerDied', id: 's', state: 'exited' },
    ]);
  });

  it('have the reason and the message of the end of the container', () => {
    const said = {
      ...status,
      containers: status.containers.map((one) => ({ ...one, reason: 'Error', message: 'bye' })),
    };
    const events = plegEvents(ref, plegChanges(record(item('c', 'running')), recordOf(said)), said);
    expect(events[0]).toMatchObject({ exitCode: 3, reason: 'Error', message: 'bye' });
  });

  it('leave out what only changed', () => {
    expect(plegEvents(ref, plegChanges(record(), record(item('c', 'created'))))).toEqual([]);
  });

  it('have no exit code for what vanished', () => {
    const events = plegEvents(ref, plegChanges(record(item('c', 'running')), record()), status);
    expect(events).toEqual([
      { pod: ref, type: 'ContainerDied', id: 'c', container: 'name-c', state: 'non-existent' },
      { pod: ref, type: 'ContainerRemoved', id: 'c', container: 'name-c', state: 'non-existent' },
    ]);
  });
});

describe('addresses', () => {
  const withIps = (ips: readonly string[], ...states: ('SANDBOX_READY' | 'SANDBOX_NOTREADY')[]): RuntimePodStatus => ({
    ...ref,
    ips,
    sandboxes: states.map((state, index) => aSandboxStatus('a', `s${index}`, { state })),
    containers: [],
  });
  it.each([
    { now: ['1.1.1.1'], cached: ['2.2.2.2'], sandboxes: ['SANDBOX_NOTREADY'], ips: ['1.1.1.1'] },
    { now: [], cached: undefined, sandboxes: ['SANDBOX_NOTREADY'], ips: [] },
    { now: [], cached: [], sandboxes: ['SANDBOX_NOTREADY'], ips: [] },
    { now: [], cached: ['2.2.2.2'], sandboxes: ['SANDBOX_READY'], ips: [] },
    { now: [], cached: ['2.2.2.2'], sandboxes: ['SANDBOX_NOTREADY', 'SANDBOX_READY'], ips: [] },
    { now: [], cached: ['2.2.2.2'], sandboxes: ['SANDBOX_NOTREADY'], ips: ['2.2.2.2'] },
    { now: [], cached: ['2.2.2.2'], sandboxes: [], ips: ['2.2.2.2'] },
  ] as const)('%j', ({ now, cached, sandboxes, ips }) => {
    expect(preserveIps(withIps(now, ...sandboxes), cached && withIps(cached)).ips).toEqual(ips);
  });
});

it.each([
  { last: undefined, now: 5, problem: 'pleg has yet to be successful' },
  { last: 1_000, now: 1_000 + 180_000, problem: undefined },
  { last: 1_000, now: 1_000 + 180_001, problem: 'pleg was last seen active 3m0.001s ago; threshold is 3m0s' },
  { last: 0, now: 3_723_500, problem: 'pleg was last seen active 1h2m3.5s ago; threshold is 3m0s' },
])('is healthy up to the threshold: %j', ({ last, now, problem }) => {
  expect(plegHealth(last, now, 180_000)).toEqual(
    problem === undefined ? { healthy: true } : { healthy: false, problem },
  );
});

it('listings may be ten minutes old while events come', () => {
  const { thresholdMs } = EVENTED_PLEG;
  expect(plegHealth(0, 600_000, thresholdMs).healthy).toBe(true);
  expect(plegHealth(0, 600_001, thresholdMs).healthy).toBe(false);
});

it('counts pods with a ready sandbox, and containers by state', () => {
  const sandbox = (state: RuntimeContainerState): RuntimeItem => ({ ...item('s', state), kind: 'sandbox' });
  const pods = [
    { ...ref, observedAt: 0, items: [sandbox('running'), item('c', 'running'), item('d', 'exited')] },
    { ...ref, observedAt: 0, items: [sandbox('exited'), item('e', 'exited')] },
  ];
  expect(countRunning(pods)).toEqual({ pods: 1, containers: { running: 1, exited: 2 } });
});
