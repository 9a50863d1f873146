import { filter, map, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { kubeletState, type StateChange } from '../../../src/streams/sync-loop/kubelet-state.js';
import { statusChanges } from '../../../src/streams/status/status-changes.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

const running: StateChange = { kind: 'status', uid: 'uid-1', status: { phase: 'Running' } };
const failed: StateChange = { kind: 'status', uid: 'uid-1', status: { phase: 'Failed' } };
const object: StateChange = { kind: 'api-object-changed', uid: 'uid-1' };
const due: StateChange = { kind: 'pod-due', uid: 'uid-1', dueAt: 5, cause: 'why' };

describe('the state', () => {
  it(
    'emits each change at once, when it is applied, and no status that equals the one before',
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState();
      const given = hot('  -r-r-f-d-o--', { r: running, f: failed, d: due, o: object });
      const expected = '   -r---f-d-o--';
      const shown = '      -R---F------';
      const status = '     -u---u---u--';
      expectObservable(state.change$, '------------!').toBe(expected, { r: running, f: failed, d: due, o: object });
      const phase$ = state.change$.pipe(
        filter(({ kind }) => kind === 'status'),
        map(() => state.statuses.get('uid-1')?.phase),
      );
      expectObservable(phase$, '------------!').toBe(shown, { R: 'Running', F: 'Failed' });
      expectObservable(statusChanges(state), '------------!').toBe(status, { u: 'uid-1' });
      given.pipe(tap((change) => state.apply(change))).subscribe();
    }),
  );

  it('returns the result of a change: the wakes of an update, the due pods, whether a kill is reserved', () => {
    const { apply } = kubeletState();
    const pod = aPod();
    const [wake] = apply({ kind: 'worker-update', update: { type: 'create', pod, causes: ['why'] }, now: 0 });
    expect(wake).toEqual({ uid: 'uid-1', update: { type: 'create', pod, causes: ['why'] }, cancel: false });
    apply({ kind: 'pod-due', uid: 'uid-1', dueAt: 5, cause: 'why' });
    expect(apply({ kind: 'due-pods-taken', now: 6 })).toEqual([{ uid: 'uid-1', cause: 'why' }]);
    expect(['a', 'a'].map((uid) => apply({ kind: 'kill-reserved', uid }))).toEqual([true, false]);
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
