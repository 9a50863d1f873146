import { map, switchMap, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { initialState, type NodeState } from '../../../src/model/node-state/node-state.js';
import { reduce } from '../../../src/model/node-state/reduce.js';
import type { StateChange } from '../../../src/model/node-state/state-change.js';
import { isNews, kubeletState, type Transition } from '../../../src/streams/sync-loop/kubelet-state.js';
import { statusChanges } from '../../../src/streams/status/status-changes.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

const running: StateChange = { kind: 'status', uid: 'uid-1', status: { phase: 'Running' } };
const failed: StateChange = { kind: 'status', uid: 'uid-1', status: { phase: 'Failed' } };
const object: StateChange = { kind: 'api-object-changed', uid: 'uid-1' };
const ready: StateChange = { kind: 'source-ready', source: 'file' };
const phaseIn = ({ statuses }: NodeState): string => statuses.stored.get('uid-1')?.status.phase ?? 'none';
const phases = { N: 'none', R: 'Running', F: 'Failed' };

describe('the state', () => {
  it(
    'emits each change at once with the state before and after it, and has a status that equals the one before as no news',
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState();
      const given = hot('  -r-r-f-d-o--', { r: running, f: failed, d: ready, o: object });
      const expected = '   -r-r-f-d-o--';
      const news = '       -n-o-n-n-o--';
      const before = '     -N-R-R-F-F--';
      const after = '      -R-R-F-F-F--';
      const status = '     -u---u---u--';
      const seen = <T>(project: (transition: Transition) => T) => state.transition$.pipe(map(project));
      const unsub = '      ------------!';
      expectObservable(
        seen(({ change }) => change),
        unsub,
      ).toBe(expected, { r: running, f: failed, d: ready, o: object });
      expectObservable(seen(isNews), unsub).toBe(news, { n: true, o: false });
      expectObservable(
        seen((one) => phaseIn(one.before)),
        unsub,
      ).toBe(before, phases);
      expectObservable(
        seen((one) => phaseIn(one.after)),
        unsub,
      ).toBe(after, phases);
      expectObservable(statusChanges(state), unsub).toBe(status, { u: 'uid-1' });
      given.pipe(tap((change) => state.apply(change))).subscribe();
    }),
  );

  it('says of a change whether it is news: a status that differs, a source that was not ready', () => {
    const { apply } = kubeletState({ sources: ['file'] });
    expect([running, running, failed, ready, ready, object].map(apply)).toEqual([
      true,
      false,
      true,
      true,
      false,
      false,
    ]);
  });

  it('notifies the followers of one change in the order of their subscriptions, and leaves out no change', () => {
    const state = kubeletState();
    const seen: string[] = [];
    const follow = (name: string, answer?: () => void) =>
      state.transition$.subscribe(({ change, after }) => {
        seen.push(`${name} ${change.kind} ${phaseIn(after)}, now ${phaseIn(state.value)}`);
        if (change === running) answer?.();
      });
    follow('first', () => void state.apply(failed));
    follow('second');
    state.apply(running);
    expect(seen).toEqual([
      'first status Running, now Running',
      // All views show the answer already.
      'second status Running, now Failed',
      'first status Failed, now Failed',
      'second status Failed, now Failed',
    ]);
  });

  it('is the fold of its changes', () => {
    const state = kubeletState({ sources: ['file'] });
    const changes: StateChange[] = [];
    state.transition$.subscribe(({ change }) => changes.push(change));
    [running, object, ready, running, failed].forEach(state.apply);
    expect(changes).toEqual([running, object, ready, running, failed]);
    expect(changes.reduce(reduce, initialState(['file']))).toEqual(state.value);
  });

  it('has views that show it as it is when they are asked', () => {
    const state = kubeletState({ sources: ['file'] });
    const image = { id: 'sha', names: [], sizeBytes: 1 };
    const start = { containerId: 'c1', answeredAt: 3 };
    expect([state.sources.all, state.sources.missing]).toEqual([false, ['file']]);
    state.apply({ kind: 'pod-set', pod: aPod() });
    state.apply({ kind: 'source-ready', source: 'file' });
    state.apply({ kind: 'images-listed', images: [image as never] });
    state.apply({ kind: 'start-ended', uid: 'uid-1', container: 'main', failure: { reason: 'No', message: 'no' } });
    state.apply({ kind: 'admission-decided', uid: 'uid-1', isAdmitted: false });
    state.apply({ kind: 'hook-begun', uid: 'uid-1', containerId: 'c1' });
    state.apply({ kind: 'instance-started', uid: 'uid-1', container: 'main', start });
    state.apply({ kind: 'restart-backed-off', key: 'uid-1/main', entry: { delayMs: 1, lastUpdate: 0 } });
    state.pulls.ended('image', { entry: { delayMs: 1, lastUpdate: 0 }, failure: { reason: 'No', message: 'no' } });
    expect(state.pods.get('uid-1')).toEqual(aPod());
    expect(state.sources.all).toBe(true);
    expect(state.images).toEqual([image]);
    expect(state.startFailures.get('uid-1', 'main')?.reason).toBe('No');
    expect(state.rejected.has('uid-1')).toBe(true);
    expect(state.dueHooks.of('uid-1')).toEqual(['c1']);
    expect(state.starts.get('uid-1', 'c1')).toEqual(start);
    expect(state.restarts.get('uid-1/main')?.delayMs).toBe(1);
    expect([state.pulls.backOffOf('image')?.delayMs, state.pulls.failureOf('image')?.reason]).toEqual([1, 'No']);
    state.pulls.ended('image');
    expect([state.pulls.backOffOf('image')?.delayMs, state.pulls.failureOf('image')]).toEqual([1, undefined]);
  });
});

describe('the stream of the state', () => {
  it(
    'begins with the newest value for each subscriber, and has each newer one, but none twice',
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState();
      const given = hot('-r-o-f---', { r: running, f: failed, o: object });
      const early = '    NR---F---';
      const late = '     ---R-F---';
      const phase$ = state.state$.pipe(map(phaseIn));
      expectObservable(phase$, '---------!').toBe(early, phases);
      expectObservable(phase$, '---^-----!').toBe(late, phases);
      given.subscribe((change) => state.apply(change));
    }),
  );

  it('serves a subscriber that causes a change after the change that it reacts to, and shows no older value after a newer one', () => {
    const state = kubeletState();
    const seen: string[][] = [[], [], []];
    const note = (list: string[]) => tap((value: NodeState) => void list.push(phaseIn(value)));
    state.state$
      .pipe(
        note(seen[0]!),
        tap((value) => {
          if (phaseIn(value) === 'Running') state.apply(failed);
        }),
        // A late subscriber, while the answer waits in the queue.
        switchMap(() => state.state$.pipe(note(seen[2]!))),
      )
      .subscribe();
    state.state$.pipe(note(seen[1]!)).subscribe();
    state.apply(running);
    // The answer is applied before the others are notified of the change: they receive the newest value at once.
    expect(seen).toEqual([
      ['none', 'Running', 'Failed'],
      ['none', 'Failed'],
      ['none', 'Failed'],
    ]);
  });

  it('goes on for others when a subscriber fails', () => {
    const state = kubeletState();
    const seen: string[] = [];
    const failures: unknown[] = [];
    const failing$ = state.state$.pipe(
      map((value) => {
        if (phaseIn(value) === 'Running') throw new Error('no');
      }),
    );
    failing$.subscribe({ error: (error: unknown) => failures.push(error) });
    state.state$.subscribe((value) => seen.push(phaseIn(value)));
    state.apply(running);
    state.apply(failed);
    expect(failures).toEqual([new Error('no')]);
    expect(seen).toEqual(['none', 'Running', 'Failed']);
  });

  it('has 1,000 pods, and a change of one shares what it keeps of all others', () => {
    const state = kubeletState();
    const uids = Array.from({ length: 1_000 }, (_, index) => `uid-${index}`);
    for (const uid of uids) state.apply({ kind: 'pod-set', pod: aPod({ uid, name: uid }) });
    for (const uid of uids) state.apply({ kind: 'status', uid, status: { phase: 'Pending' } });
    const before = state.value;
    state.apply({ kind: 'status', uid: 'uid-7', status: { phase: 'Running' } });
    const after = state.value;
    const changed = uids.filter((uid) => before.statuses.stored.get(uid) !== after.statuses.stored.get(uid));
    expect(changed).toEqual(['uid-7']);
    expect(after.wanted).toBe(before.wanted);
    expect([...after.statuses.stored.keys()]).toEqual(uids);
  });
});
