import { map, merge } from 'rxjs';
import { describe, it } from 'vitest';
import type { StatusResponse } from '../../src/generated/runtime/v1/api.js';
import { newRuntimeWatch, watchRuntimeState } from '../../src/streams/runtime-state.js';
import { inTurn, marbles } from './marbles.js';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const answer = (isReady: boolean): StatusResponse => ({
  status: {
    conditions: ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: isReady, reason: '', message: '' })),
  },
  info: {},
  runtimeHandlers: [],
  features: undefined,
});

describe('the state of the runtime', () => {
  it(
    'is asked for at once and 5 s after each answer; a call that fails leaves it as it is',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const answers = { y: answer(true), n: answer(false) };
      const ready$ = cold<StatusResponse>('(y|)', answers);
      const slow$ = cold<StatusResponse>('2s (n|)', answers);
      const last$ = cold<StatusResponse>('(y|)', answers);
      const answer$ = inTurn<StatusResponse>(ready$, cold('#'), slow$, last$);
      const watch = newRuntimeWatch();
      const watching$ = watchRuntimeState(watch, { runtime: { status: () => answer$ }, log: quiet, scheduler });
      // Asked at 0, 5, 10 and, since the third answer took 2 s, 17 s.
      const look$ = hot('     -l 4999ms l 6999ms l 4999ms l');
      const readyAt$ = look$.pipe(map(() => watch.state.readyAt));
      const expected = '      -a 4999ms a 6999ms a 4999ms b';
      expectObservable(merge(watching$, readyAt$), '20s !').toBe(expected, { a: 0, b: 17_000 });
      expectSubscriptions(slow$.subscriptions).toBe('10s ^ 1999ms !');
      expectSubscriptions(last$.subscriptions).toBe('17s (^!)');
    }),
  );
});
