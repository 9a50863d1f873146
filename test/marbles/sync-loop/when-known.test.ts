import { tap } from 'rxjs';
import { describe, it } from 'vitest';
import { kubeletState, type StateChange } from '../../../src/streams/sync-loop/kubelet-state.js';
import { whenKnown } from '../../../src/streams/sync-loop/when-known.js';
import { marbles } from '../marbles.js';

const ready: StateChange = { kind: 'source-ready', source: 'file' };
const pod: StateChange = { kind: 'pod-due', uid: 'u', dueAt: 1, cause: 'why' };
const k = undefined;

describe('the pods of an agent', () => {
  it.each([
    ['the runtime was listed before', '--r---', '-----s', '-----(k|)'],
    ['the runtime is listed later', '-----r', '--s---', '-----(k|)'],
    ['no source has delivered anything', '--r--r', '---p--', '------'],
    ['the runtime does not answer', '------', '--s--p', '------'],
  ])('are known when the sources have delivered and the runtime is listed: %s', (_, relists, changes, expected) => {
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState({ sources: ['file'] });
      let isListed = false;
      const relist$ = hot<never>(relists).pipe(tap(() => (isListed = true)));
      const known$ = whenKnown(state, { relist$, hasListed: () => isListed });
      expectObservable(known$, '------!').toBe(expected, { k });
      hot(changes, { s: ready, p: pod }).subscribe((change) => state.apply(change));
    })();
  });

  it(
    'are known at once to a later subscriber',
    marbles(({ hot, expectObservable }) => {
      const state = kubeletState({ sources: ['file'] });
      state.apply(ready);
      const known$ = whenKnown(state, { relist$: hot<never>('-'), hasListed: () => true });
      expectObservable(known$, '---^').toBe('---(k|)', { k });
    }),
  );
});
