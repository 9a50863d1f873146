import { filter, map, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { crashLoopKeysOf } from '../../../src/model/pod-actions/crash-loop-back-off.js';
import { kubeletState, type StateChange } from '../../../src/streams/sync-loop/kubelet-state.js';
import { statusChanges } from '../../../src/streams/status/status-changes.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

const running: StateChange = { kind: 'status', uid: 'uid-1', status: { phase: 'Running' } };
const failed: StateChange = { kind: 'status', uid: 'uid-1', status: { phase: 'Failed' } };
const object: StateChange = { kind: 'api-object-changed', uid: 'uid-1' };
const ready: StateChange = { kind: 'source-ready', source: 'file' };

describe('the state', () => {
  it(
    'emits each change at once, when it is applied, and no status that equals the one before',
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState();
      const given = hot('  -r-r-f-d-o--', { r: running, f: failed, d: ready, o: object });
      const expected = '   -r---f-d-o--';
      const shown = '      -R---F------';
      const status = '     -u---u---u--';
      expectObservable(state.change$, '------------!').toBe(expected, { r: running, f: failed, d: ready, o: object });
      const phase$ = state.change$.pipe(
        filter(({ kind }) => kind === 'status'),
        map(() => state.statuses.get('uid-1')?.phase),
      );
      expectObservable(phase$, '------------!').toBe(shown, { R: 'Running', F: 'Failed' });
      expectObservable(statusChanges(state), '------------!').toBe(status, { u: 'uid-1' });
      given.pipe(tap((change) => state.apply(change))).subscribe();
    }),
  );

  it('returns the result of a change: whether a status differs from the one before, and how old a start is', () => {
    const { apply } = kubeletState();
    expect([running, running, failed].map((change) => apply(change))).toEqual([true, false, true]);
    const start = { kind: 'start-time-seen', uid: 'uid-1', startTime: '1970-01-01T00:00:01Z' } as const;
    expect(apply({ ...start, now: 50, wallNow: 3_000 })).toBe(2_000);
  });

  it('drops the back-offs of the restarts of a forgotten pod, and of no other', () => {
    const state = kubeletState();
    const [one, two] = ['one', 'two'].map((uid) => `${crashLoopKeysOf(uid)}main`) as [string, string];
    for (const key of [one, two])
      state.apply({ kind: 'restart-backed-off', key, entry: { delayMs: 1, lastUpdate: 0 } });
    state.apply({ kind: 'pod-forgotten', uid: 'one' });
    expect([...state.restarts.keys()]).toEqual([two]);
  });

  it('keeps its views up to date', () => {
    const state = kubeletState({ sources: ['file'] });
    const image = { id: 'sha', names: [], sizeBytes: 1 };
    state.apply({ kind: 'pod-set', pod: aPod() });
    state.apply({ kind: 'source-ready', source: 'file' });
    state.apply({ kind: 'images-listed', images: [image as never] });
    state.apply({ kind: 'start-ended', uid: 'uid-1', container: 'main', failure: { reason: 'No', message: 'no' } });
    state.pulls.ended('image', { entry: { delayMs: 1, lastUpdate: 0 }, failure: { reason: 'No', message: 'no' } });
    expect(state.pods.get('uid-1')).toEqual(aPod());
    expect(state.sources.all).toBe(true);
    expect(state.images).toEqual([image]);
    expect(state.startFailures.get('uid-1', 'main')?.reason).toBe('No');
    expect([state.pulls.backOff.size, state.pulls.failures.size]).toEqual([1, 1]);
    state.pulls.ended('image');
    expect([state.pulls.backOff.size, state.pulls.failures.size]).toEqual([1, 0]);
  });
});
