import { NEVER } from 'rxjs';
import { describe, it } from 'vitest';
import { knownSoon } from '../../../src/cli/kubelet/known-soon.js';
import { marbles } from '../marbles.js';

const k = undefined;

describe('a command that needs the pods of an agent', () => {
  it(
    'waits until the agent knows them, and later commands do not wait',
    marbles(({ cold, expectObservable, scheduler }) => {
      const known$ = knownSoon(cold('2s (k|)'), scheduler);
      expectObservable(known$).toBe('2s (k|)', { k });
      expectObservable(known$, '3s ^').toBe('3s (k|)', { k });
    }),
  );

  it(
    'waits 5 s at most for an agent with a source that is away, and later commands do not wait',
    marbles(({ expectObservable, scheduler }) => {
      const known$ = knownSoon(NEVER, scheduler);
      expectObservable(known$).toBe('5s (k|)', { k });
      expectObservable(known$, '6s ^').toBe('6s (k|)', { k });
    }),
  );
});
