import { describe, expect, it } from 'vitest';
import { initialState, type NodeState } from '../../../src/model/node-state/node-state.js';
import { reduce } from '../../../src/model/node-state/reduce.js';
import type { StateChange } from '../../../src/model/node-state/state-change.js';
import { EVENTED_PLEG, GENERIC_PLEG } from '../../../src/model/pleg/pleg.js';
import { CONFIG_MIRROR_ANNOTATION } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';
import { resizeRows } from './resize-rows.js';
import type { Row } from './row.js';

const pod = aPod();
const mirror = aPod({ uid: 'mirror', source: 'api', annotations: { [CONFIG_MIRROR_ANNOTATION]: 'hash' } });
const image = { id: 'sha256:1', size: 5n } as never;
const entry = { delayMs: 10_000, lastUpdate: 0 };
const failure = { reason: 'ErrImagePull', message: 'no such host' };
const start = { containerId: 'c1' };
const startTime = '2026-01-01T00:00:00Z';
const moment = { now: 700, wallNow: Date.parse(startTime) + 500 };
const minutes = (count: number): number => count * 60_000;

const set: StateChange = { kind: 'pod-set', pod };
const status = (phase: string, isFinished?: boolean): StateChange => ({
  ...{ kind: 'status', uid: 'uid-1', status: { phase } },
  ...(isFinished !== undefined && { isFinished }),
});
const hook = (kind: 'hook-begun' | 'hook-ended', containerId: string): StateChange => ({
  ...{ kind, uid: 'uid-1', containerId },
});
const begun = (containerId: string, container = 'main'): StateChange => ({
  ...{ kind: 'instance-started', uid: 'uid-1', container, start: { containerId } },
});
const failed: StateChange = { kind: 'start-ended', uid: 'uid-1', container: 'main', failure };
const rejected: StateChange = { kind: 'admission-decided', uid: 'uid-1', isAdmitted: false };
const seen: StateChange = { kind: 'start-time-seen', uid: 'uid-1', startTime, ...moment };
const backedOff = (key: string): StateChange => ({ kind: 'restart-backed-off', key, entry });
const pullFailed: StateChange = { kind: 'pull-ended', key: 'image', failed: { entry, failure } };
const expired = (now: number): StateChange => ({ kind: 'back-offs-expired', now });
const both = [
  { name: 'a', emptyDir: {} },
  { name: 'b', emptyDir: {} },
];
const wantedVolumes: StateChange = { kind: 'volumes-wanted', pod, volumes: both };
const unwantedVolumes: StateChange = { kind: 'volumes-unwanted', pod, volumes: both };
const volume = <K extends 'volume-mounted' | 'volume-unmounting' | 'volume-unmounted'>(kind: K) => ({
  ...{ kind, uid: 'uid-1', volume: 'a' },
});
const failedVolume: StateChange = { kind: 'volume-failed', uid: 'uid-1', volume: 'a', error: 'no' };
const began: StateChange = { kind: 'run-started', uid: 'uid-1', work: 'sync', now: 5 };
const ended: StateChange = { kind: 'run-ended', uid: 'uid-1' };
const queued: StateChange = { kind: 'work-queued', uid: 'uid-1', dueAt: 60 };
const taken = (...uids: readonly string[]): StateChange => ({ kind: 'work-taken', uids });
const shutDown = (isShuttingDown: boolean): StateChange => ({ kind: 'shutdown-noticed', isShuttingDown });
const preempted: StateChange = { kind: 'room-awaited', uid: 'uid-1', victims: ['small'], pods: [pod], since: 5 };
const short = (memory: boolean): StateChange => ({
  kind: 'pressure-observed',
  pressure: { memory, disk: false, pid: false },
});
const NOT_READY = 'container runtime not ready: <nil>';
const retained = (...uids: readonly string[]): StateChange => ({ kind: 'statuses-retained', uids: new Set(uids) });
const all = [
  set,
  status('Running'),
  rejected,
  hook('hook-begun', 'c1'),
  begun('c1'),
  seen,
  failed,
  backedOff('uid-1/m'),
];

const after = (changes: readonly StateChange[]): NodeState => changes.reduce(reduce, initialState(['file', 'api']));

/** The parts of a state as plain values. */
const wanted = ({ wanted }: NodeState) => [...wanted.pods.byUid.keys()];
const mirrors = ({ wanted }: NodeState) => [...wanted.mirrors.byUid.keys()];
const sources = ({ sources }: NodeState) => sources.seen;
const stored = ({ statuses }: NodeState) => statuses.stored.get('uid-1');
const reborn = ({ statuses }: NodeState) => [...statuses.reborn];
const notAdmitted = ({ rejected }: NodeState) => [...rejected];
const hooks = ({ dueHooks: { due, known } }: NodeState) => [[...(due.get('uid-1') ?? [])], [...known]];
const instances = ({ starts }: NodeState) => [...(starts.get('uid-1')?.byId.values() ?? [])];
const starts = ({ activeTimes }: NodeState) => [...activeTimes];
const failures = ({ startFailures }: NodeState) => [...startFailures];
const restarts = ({ backOffs }: NodeState) => [...backOffs.restarts.keys()];
const pulls = ({ backOffs }: NodeState) => [[...backOffs.pulls.keys()], [...backOffs.pullFailures.values()]];
const volumes = ({ volumes }: NodeState) => {
  const of = volumes.get('uid-1');
  return [...(of?.volumes ?? [])].map(
    ([name, { failures, error }]) =>
      `${name} ${of?.isWanted ? 'wanted' : 'unwanted'}, ${failures} failures${error === undefined ? '' : `: ${error}`}`,
  );
};
const missing = ({ volumes }: NodeState) => [...(volumes.get('uid-1')?.missing ?? [])].sort();
const images = ({ images }: NodeState) => images;
const activity = ({ activity }: NodeState) => [...activity];
const room = ({ preemptions: { victims, waits } }: NodeState) => [[...victims], [...waits.keys()]];
const pressure = ({ pressure: { memory, disk, pid } }: NodeState) => [memory, disk, pid];
const shuttingDown = ({ isShuttingDown }: NodeState) => isShuttingDown;
const ofRuntime = ({ runtime }: NodeState) => [runtime.runtime.runtimeProblem, runtime.lastRelistAt, runtime.cadence];

/** At least one row for each kind of change. */
const rows: Readonly<Record<StateChange['kind'], readonly Row[]>> = {
  'pod-set': [
    ['a pod of a source', [], set, wanted, ['uid-1']],
    ['a mirror pod, which is kept apart', [set], { kind: 'pod-set', pod: mirror }, mirrors, ['mirror']],
  ],
  'pod-removed': [
    ['the only pod', [set], { kind: 'pod-removed', pod }, wanted, []],
    ['a mirror pod', [set, { kind: 'pod-set', pod: mirror }], { kind: 'pod-removed', pod: mirror }, mirrors, []],
    ['a pod that was not there', [set], { kind: 'pod-removed', pod: aPod({ uid: 'other' }) }, wanted, ['uid-1']],
  ],
  'source-ready': [['a source', [], { kind: 'source-ready', source: 'api' }, sources, ['api']]],
  'pod-forgotten': [
    [
      'the restarts of one pod, and of none whose UID begins like it',
      [backedOff('uid-1/main'), backedOff('uid-10/main')],
      { kind: 'pod-forgotten', uid: 'uid-1' },
      restarts,
      ['uid-10/main'],
    ],
  ],
  'admission-decided': [
    ['a rejection', [], rejected, notAdmitted, ['uid-1']],
    [
      'an admission after it',
      [rejected],
      { kind: 'admission-decided', uid: 'uid-1', isAdmitted: true },
      notAdmitted,
      [],
    ],
  ],
  ...resizeRows,
  'room-awaited': [['pods are stopped for a pod', [], preempted, room, [['small'], ['uid-1']]]],
  'room-made': [['the pods have stopped', [preempted], { kind: 'room-made', uid: 'uid-1' }, room, [['small'], []]]],
  status: [
    ['the first', [], status('Running'), stored, { status: { phase: 'Running' }, version: 1, isFinished: false }],
    ['the same again', [status('Running')], status('Running'), (state) => stored(state)?.version, 1],
    ['another', [status('Running')], status('Failed'), (state) => stored(state)?.version, 2],
    [
      'the same, of a pod that is cleaned up',
      [status('Failed')],
      status('Failed', true),
      (state) => stored(state)?.version,
      2,
    ],
    [
      'another of a pod that is cleaned up',
      [status('Failed', true)],
      status('Failed'),
      (state) => stored(state)?.isFinished,
      true,
    ],
    ['the first of a new life', [{ kind: 'pod-started-over', uid: 'uid-1' }], status('Pending'), reborn, []],
  ],
  'status-forgotten': [['a status', [status('Failed')], { kind: 'status-forgotten', uid: 'uid-1' }, stored, undefined]],
  'api-object-changed': [
    ['an object', all, { kind: 'api-object-changed', uid: 'uid-1' }, (state) => stored(state)?.version, 1],
  ],
  'statuses-retained': [
    ['no status', all, retained(), stored, undefined],
    ['no rejection', all, retained(), notAdmitted, []],
    ['no hook', [...all, { kind: 'due-hooks-found', uid: 'uid-1', containerIds: [] }], retained(), hooks, [[], []]],
    ['no instance', all, retained(), instances, []],
    ['no start', all, retained(), starts, []],
    ['no new life', [{ kind: 'pod-started-over', uid: 'uid-1' }], retained(), reborn, []],
    ['the pod', all, retained('uid-1'), (state) => [stored(state)?.version, notAdmitted(state)], [1, ['uid-1']]],
    ['no pod that is wanted less', all, retained(), wanted, ['uid-1']],
  ],
  'pod-started-over': [
    [
      'the status of the former life',
      [status('Failed', true)],
      { kind: 'pod-started-over', uid: 'uid-1' },
      stored,
      undefined,
    ],
    ['a rejected pod', [rejected], { kind: 'pod-started-over', uid: 'uid-1' }, notAdmitted, []],
    ['the pod', [], { kind: 'pod-started-over', uid: 'uid-1' }, reborn, ['uid-1']],
  ],
  'due-hooks-found': [
    ['none', [], { kind: 'due-hooks-found', uid: 'uid-1', containerIds: [] }, hooks, [[], ['uid-1']]],
    [
      'two, beside one that has begun',
      [hook('hook-begun', 'c1')],
      { kind: 'due-hooks-found', uid: 'uid-1', containerIds: ['c0', 'c1'] },
      hooks,
      [['c1', 'c0'], ['uid-1']],
    ],
  ],
  'hook-begun': [['a hook', [], hook('hook-begun', 'c1'), hooks, [['c1'], []]]],
  'hook-ended': [
    ['one of two', ['c1', 'c2'].map((id) => hook('hook-begun', id)), hook('hook-ended', 'c1'), hooks, [['c2'], []]],
    ['the last', [hook('hook-begun', 'c1')], hook('hook-ended', 'c1'), ({ dueHooks }) => dueHooks.due.size, 0],
  ],
  'start-time-seen': [
    ['a start of half a second ago', [], seen, starts, [['uid-1', { startTime, at: 200 }]]],
    [
      'the same start, by a clock that was set',
      [seen],
      { kind: 'start-time-seen', uid: 'uid-1', startTime, now: 900, wallNow: 0 },
      starts,
      [['uid-1', { startTime, at: 200 }]],
    ],
  ],
  'instance-started': [
    ['the first', [], begun('c1'), instances, [start]],
    ['the next one of the same container', [begun('c1')], begun('c2'), instances, [{ containerId: 'c2' }]],
    ['one of another container', [begun('c1')], begun('c2', 'side'), instances, [start, { containerId: 'c2' }]],
  ],
  'start-ended': [
    ['a failure', [], failed, failures, [['uid-1_main', failure]]],
    ['a success', [failed], { kind: 'start-ended', uid: 'uid-1', container: 'main' }, failures, []],
  ],
  'restart-backed-off': [['a container', [], backedOff('uid-1/main'), restarts, ['uid-1/main']]],
  'pull-ended': [
    ['a failure', [], pullFailed, pulls, [['image'], [failure]]],
    [
      'a success, after which the back-off stays',
      [pullFailed],
      { kind: 'pull-ended', key: 'image' },
      pulls,
      [['image'], []],
    ],
  ],
  'back-offs-expired': [
    ['ten minutes', [pullFailed, backedOff('a')], expired(minutes(10)), pulls, [['image'], [failure]]],
    ['more than ten', [pullFailed, backedOff('a')], expired(minutes(10) + 1), pulls, [[], []]],
    ['twenty minutes', [backedOff('a')], expired(minutes(20)), restarts, ['a']],
    ['more than twenty', [backedOff('a')], expired(minutes(20) + 1), restarts, []],
  ],
  'volumes-wanted': [
    ['two volumes', [], wantedVolumes, volumes, ['a wanted, 0 failures', 'b wanted, 0 failures']],
    [
      'a volume that was not wanted: its failures do not count, its last error is known',
      [unwantedVolumes, failedVolume],
      wantedVolumes,
      volumes,
      ['a wanted, 0 failures: no', 'b wanted, 0 failures'],
    ],
    [
      'a volume that is wanted still, with its failures',
      [wantedVolumes, failedVolume],
      wantedVolumes,
      volumes,
      ['a wanted, 1 failures: no', 'b wanted, 0 failures'],
    ],
    ['a mounted volume, which stays mounted', [wantedVolumes, volume('volume-mounted')], wantedVolumes, missing, ['b']],
  ],
  'volumes-ending': [
    [
      'a pod',
      [wantedVolumes],
      { kind: 'volumes-ending', uid: 'uid-1' },
      ({ volumes }) => volumes.get('uid-1')?.isEnding,
      true,
    ],
    ['a pod without volumes', [], { kind: 'volumes-ending', uid: 'uid-1' }, ({ volumes }) => volumes.size, 0],
    [
      'a pod that is wanted again',
      [wantedVolumes, { kind: 'volumes-ending', uid: 'uid-1' }],
      wantedVolumes,
      ({ volumes }) => volumes.get('uid-1')?.isEnding,
      false,
    ],
  ],
  'volumes-unwanted': [
    [
      'volumes of which the disk has one more',
      [wantedVolumes],
      { kind: 'volumes-unwanted', pod, volumes: [{ name: 'c', emptyDir: {} }] },
      volumes,
      ['a unwanted, 0 failures', 'b unwanted, 0 failures', 'c unwanted, 0 failures'],
    ],
    ['no volume', [], { kind: 'volumes-unwanted', pod, volumes: [] }, ({ volumes }) => volumes.size, 0],
  ],
  'volume-mounted': [
    ['one of two', [wantedVolumes], volume('volume-mounted'), missing, ['b']],
    [
      'one that has failed',
      [wantedVolumes, failedVolume],
      volume('volume-mounted'),
      volumes,
      ['a wanted, 0 failures', 'b wanted, 0 failures'],
    ],
    [
      'one that is not known',
      [wantedVolumes],
      { kind: 'volume-mounted', uid: 'uid-1', volume: 'x' },
      missing,
      ['a', 'b'],
    ],
  ],
  'volume-unmounting': [
    ['a mounted volume', [wantedVolumes, volume('volume-mounted')], volume('volume-unmounting'), missing, ['a', 'b']],
  ],
  'volume-unmounted': [
    ['one of two', [unwantedVolumes], volume('volume-unmounted'), volumes, ['b unwanted, 0 failures']],
    [
      'the last',
      [unwantedVolumes, volume('volume-unmounted')],
      { ...volume('volume-unmounted'), volume: 'b' },
      ({ volumes }) => volumes.size,
      0,
    ],
    [
      'one that is wanted again',
      [wantedVolumes, volume('volume-mounted'), failedVolume],
      volume('volume-unmounted'),
      volumes,
      ['a wanted, 0 failures', 'b wanted, 0 failures'],
    ],
  ],
  'volume-failed': [
    [
      'two attempts',
      [wantedVolumes, failedVolume],
      failedVolume,
      volumes,
      ['a wanted, 2 failures: no', 'b wanted, 0 failures'],
    ],
  ],
  'run-started': [['a run', [], began, activity, [['uid-1', { running: { work: 'sync', since: 5 } }]]]],
  'run-ended': [['a run', [began], ended, activity, []]],
  'work-queued': [['a pod', [], queued, activity, [['uid-1', { dueAt: 60 }]]]],
  'work-taken': [['a pod', [queued], taken('uid-1'), activity, []]],
  'runtime-status': [
    [
      'a status',
      [],
      { kind: 'runtime-status', status: { status: undefined }, now: 5 },
      ofRuntime,
      [NOT_READY, undefined, GENERIC_PLEG],
    ],
  ],
  relisted: [['a relist', [], { kind: 'relisted', at: 5 }, ofRuntime, [undefined, 5, GENERIC_PLEG]]],
  'relist-cadence': [
    [
      'a cadence',
      [],
      { kind: 'relist-cadence', cadence: EVENTED_PLEG },
      ofRuntime,
      [undefined, undefined, EVENTED_PLEG],
    ],
  ],
  'health-checked': [
    ['a healthy node', [], { kind: 'health-checked', problem: undefined }, ({ health }) => health, undefined],
  ],
  'shutdown-noticed': [
    ['a shutdown', [], shutDown(true), shuttingDown, true],
    ['its cancellation', [shutDown(true)], shutDown(false), shuttingDown, false],
  ],
  'pressure-observed': [['a shortage', [], short(true), pressure, [true, false, false]]],
  'images-listed': [['images', [], { kind: 'images-listed', images: [image] }, images, [image]]],
};

describe.each(Object.entries(rows))('the change %s', (_, ofKind) => {
  it.each(ofKind)('is applied: %s', (_what, before, change, part, is) => {
    expect(part(reduce(after(before), change))).toEqual(is);
  });
});

describe('a state', () => {
  it.each([
    ['pod-set', set, set],
    ['source-ready', { kind: 'source-ready', source: 'api' }, { kind: 'source-ready', source: 'api' }],
    ['admission-decided', rejected, rejected],
    ['room-made', set, { kind: 'room-made', uid: 'uid-1' }],
    ['start-time-seen', seen, seen],
    ['hook-begun', hook('hook-begun', 'c1'), hook('hook-begun', 'c1')],
    ['statuses-retained', status('Running'), retained('uid-1')],
    ['back-offs-expired', backedOff('a'), { kind: 'back-offs-expired', now: 1 }],
    ['pod-forgotten', backedOff('a'), { kind: 'pod-forgotten', uid: 'uid-1' }],
    ['run-ended', queued, ended],
    ['work-queued', queued, queued],
    ['work-taken', began, taken('uid-1')],
    ['api-object-changed', set, { kind: 'api-object-changed', uid: 'uid-1' }],
  ] as readonly (readonly [string, StateChange, StateChange])[])(
    'is the same after %s that says nothing new',
    (_, first, again) => {
      const before = reduce(initialState(), first);
      expect(reduce(before, again).statuses).toBe(before.statuses);
      expect(reduce(before, again).backOffs).toBe(before.backOffs);
      if (again.kind !== 'pod-set') expect(reduce(before, again)).toBe(before);
    },
  );

  it('does not change with what comes after it', () => {
    const before = after(all);
    const parts = [wanted, stored, notAdmitted, hooks, instances, starts, failures, restarts];
    const as = parts.map((part) => JSON.stringify(part(before)));
    reduce(after(all), { kind: 'pod-removed', pod });
    [{ kind: 'pod-removed', pod } as const, retained(), status('Failed'), begun('c9')].reduce(reduce, before);
    expect(parts.map((part) => JSON.stringify(part(before)))).toEqual(as);
  });
});
