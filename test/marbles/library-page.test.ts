import { inTurn, marbles } from 'rx-kubelet/marbles';
import { retryWithBackoff } from 'rx-kubelet';
import { it } from 'vitest';

// The example of docs/library.md.
it(
  'a source that fails is tried again after its delay',
  marbles(({ cold, expectObservable, scheduler }) => {
    const attempt$ = inTurn(cold('--#'), cold('a|'));
    const expected = '            -----a|';
    expectObservable(attempt$.pipe(retryWithBackoff({ initialMs: 3, maxMs: 30, scheduler }))).toBe(expected);
  }),
);
