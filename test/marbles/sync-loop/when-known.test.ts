import { type Observable, tap } from 'rxjs';
import { describe, it } from 'vitest';
import { emptyPodStatus, type RuntimePod } from '../../../src/model/pleg/runtime-pod.js';
import { createPodCache } from '../../../src/streams/pleg/pod-cache.js';
import type { StateChange } from '../../../src/model/node-state/state-change.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { whenKnown } from '../../../src/streams/sync-loop/when-known.js';
import { marbles } from '../marbles.js';

const ready: StateChange = { kind: 'source-ready', source: 'file' };
const pod: StateChange = { kind: 'pod-forgotten', uid: 'u' };
const k = undefined;

const PODS = ['one', 'two'].map((uid): RuntimePod => ({
  uid,
  name: uid,
  namespace: 'default',
  items: [],
  observedAt: 2,
}));
const reading = { kind: 'status', status: emptyPodStatus({ uid: 'one', name: 'one', namespace: 'default' }) } as const;

const plegOf = (listed: readonly (readonly RuntimePod[])[], relist$: Observable<never>) => ({
  relist$,
  hasListed: () => listed.length > 0,
  listedPods: () => listed.at(-1) ?? [],
});

describe('the pods of an agent', () => {
  it.each([
    ['the runtime was listed before', '--r---', '-----s', '-----(k|)'],
    ['the runtime is listed later', '-----r', '--s---', '-----(k|)'],
    ['no source has delivered anything', '--r--r', '---p--', '------'],
    ['the runtime does not answer', '------', '--s--p', '------'],
  ])('are known when the sources have delivered and the runtime is listed: %s', (_, relists, changes, expected) => {
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState({ sources: ['file'] });
      const listed: RuntimePod[][] = [];
      const relist$ = hot<never>(relists).pipe(tap(() => listed.push([])));
      const known$ = whenKnown(state, plegOf(listed, relist$), createPodCache());
      expectObservable(known$, '------!').toBe(expected, { k });
      hot(changes, { s: ready, p: pod }).subscribe((change) => state.apply(change));
    })();
  });

  it(
    'are known at once to a later subscriber',
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState({ sources: ['file'] });
      state.apply(ready);
      const known$ = whenKnown(state, plegOf([[]], hot<never>('-')), createPodCache());
      expectObservable(known$, '---^').toBe('---(k|)', { k });
    }),
  );

  it.each([
    ['is read', 'r', '------(k|)'],
    ['cannot be read', 'f', '------(k|)'],
    ['is gone', 'g', '------(k|)'],
    ['is being read', '-', '-------'],
  ])('are known when each pod that the runtime lists has been read: one of two %s', (_, end, expected) => {
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState({ sources: ['file'] });
      state.apply(ready);
      const cache = createPodCache();
      const listed: RuntimePod[][] = [];
      // As a relist does it: both pods are new, so they are held until they are read.
      const relist$ = hot<never>('--r').pipe(
        tap(() => {
          for (const { uid } of PODS) cache.hold(uid);
          cache.updateTime(2);
          listed.push(PODS);
        }),
      );
      expectObservable(whenKnown(state, plegOf(listed, relist$), cache), '-------!').toBe(expected, { k });
      hot('----r', {}).subscribe(() => cache.set('one', reading, 3));
      hot(`------${end}`).subscribe((how) => {
        if (how === 'r') cache.set('two', reading, 5);
        if (how === 'f') cache.set('two', { kind: 'error', error: new Error('no') }, 5);
        if (how === 'g') cache.release('two');
      });
    })();
  });
});
