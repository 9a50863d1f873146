import { filter, map, mergeMap, take, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { PodChange } from '../../../src/model/pod-status/pod-change.js';
import type { StateChange } from '../../../src/model/node-state/state-change.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { podChanges } from '../../../src/streams/sync-loop/pod-changes.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

const one = aPod({ uid: 'one', name: 'one' });
const two = aPod({ uid: 'two', name: 'two' });
const changes: Readonly<Record<string, StateChange>> = {
  1: { kind: 'pod-set', pod: one },
  2: { kind: 'pod-set', pod: two },
  r: { kind: 'status', uid: 'one', status: { phase: 'Running' } },
  f: { kind: 'status', uid: 'one', status: { phase: 'Failed' } },
  x: { kind: 'pod-removed', pod: one },
  d: { kind: 'source-ready', source: 'file' },
  o: { kind: 'status', uid: 'other', status: { phase: 'Running' } },
};
const phaseOf = ({ status }: { readonly status?: { readonly phase?: string } }): string => status?.phase ?? 'none';
/** `added one none`, `changed one none Running`. */
const text = (change: PodChange): string =>
  [
    change.kind,
    change.pod.metadata.name,
    ...(change.kind === 'changed' ? [phaseOf(change.before)] : []),
    phaseOf(change.pod),
  ].join(' ');

const said = {
  a: 'added one none',
  b: 'added two none',
  A: 'added one Failed',
  R: 'changed one none Running',
  F: 'changed one Running Failed',
  X: 'removed one Failed',
};

describe('the changes of pods', () => {
  it(
    'are those of wanted pods and their statuses, each with the pod before it',
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState();
      const given = hot('-1-2-r-r-d-o-f-x-', changes);
      const expected = ' -a-b-R-------F-X-';
      expectObservable(podChanges(state).pipe(map(text)), '----------------!').toBe(expected, said);
      given.subscribe((change) => state.apply(change));
    }),
  );

  it(
    'begin for a late subscriber with the pods that are there, as they are now',
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState();
      const given = hot('-1-2-r-f---x-', changes);
      const late = '     ---------^--!';
      const expected = ' ---------(Ab)';
      expectObservable(podChanges(state).pipe(map(text), take(2)), late).toBe(`---------(Ab|)`, said);
      expectObservable(podChanges(state).pipe(map(text)), '---------^-!').toBe(expected, said);
      given.subscribe((change) => state.apply(change));
    }),
  );

  it('reach every subscriber in one order, also those that a subscriber makes in answer to another', () => {
    const state = kubeletState();
    const seen: string[][] = [[], []];
    const note = (list: string[]) => tap((change: PodChange) => void list.push(text(change)));
    const late: string[] = [];
    podChanges(state)
      .pipe(
        note(seen[0]!),
        filter(({ kind }) => kind === 'added'),
        tap(() => {
          state.apply(changes.r!);
          state.apply(changes.f!);
        }),
        mergeMap(() => podChanges(state).pipe(note(late))),
      )
      .subscribe();
    podChanges(state).pipe(note(seen[1]!)).subscribe();
    state.apply(changes[1]!);
    const order = ['added one none', 'changed one none Running', 'changed one Running Failed'];
    expect(seen).toEqual([order, order]);
    // What was made before it began is in what it begins with.
    expect(late).toEqual(['added one Failed']);
  });

  it('go on for others when a subscriber fails', () => {
    const state = kubeletState();
    const seen: string[] = [];
    const failures: unknown[] = [];
    const failing$ = podChanges(state).pipe(
      map(() => {
        throw new Error('no');
      }),
    );
    failing$.subscribe({ error: (error: unknown) => failures.push(error) });
    podChanges(state).subscribe((change) => seen.push(text(change)));
    state.apply(changes[1]!);
    state.apply(changes.r!);
    expect(failures).toEqual([new Error('no')]);
    expect(seen).toEqual(['added one none', 'changed one none Running']);
  });

  it('share the pods that they did not change', () => {
    const state = kubeletState();
    for (const pod of [one, two]) state.apply({ kind: 'pod-set', pod });
    state.apply(changes.r!);
    const before = ['one', 'two'].map((uid) => state.pod(uid));
    state.apply(changes.o!);
    expect(['one', 'two'].map((uid) => state.pod(uid)).every((pod, index) => pod === before[index])).toBe(true);
    state.apply(changes.f!);
    expect(['one', 'two'].map((uid, index) => state.pod(uid) === before[index])).toEqual([false, true]);
  });
});
