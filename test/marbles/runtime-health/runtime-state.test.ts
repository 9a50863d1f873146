import { describe, it } from 'vitest';
import type { StatusResponse } from '../../../src/generated/runtime/v1/api.js';
import type { RuntimeState } from '../../../src/model/runtime-health/runtime-state.js';
import { runtimeStates } from '../../../src/streams/runtime-health/runtime-state.js';
import { inTurn, marbles } from '../marbles.js';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const answer = (isReady: boolean): StatusResponse => ({
  status: {
    conditions: ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: isReady, reason: '', message: '' })),
  },
  info: {},
  runtimeHandlers: [],
  features: undefined,
});

const readyAt = (at: number): RuntimeState => ({
  readyAt: at,
  runtimeProblem: undefined,
  networkProblem: undefined,
  handlers: [],
  features: undefined,
});
const notReady = (at: number): RuntimeState => ({
  ...readyAt(at),
  runtimeProblem: 'container runtime not ready: RuntimeReady=false reason: message:',
  networkProblem: 'container runtime network not ready: NetworkReady=false reason: message:',
});

describe('the state of the runtime', () => {
  it(
    'is asked for at once and 5 s after each answer; a call that fails leaves it as it is',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const answers = { y: answer(true), n: answer(false) };
      const ready$ = cold<StatusResponse>('(y|)', answers);
      const slow$ = cold<StatusResponse>('2s (n|)', answers);
      const last$ = cold<StatusResponse>('(y|)', answers);
      const answer$ = inTurn<StatusResponse>(ready$, cold('#'), slow$, last$);
      const state$ = runtimeStates({ runtime: { status: () => answer$ }, log: quiet, scheduler });
      // Asked at 0, 5, 10 and, since the third answer took 2 s, 17 s.
      const expected = ' y 11999ms n 4999ms z';
      expectObservable(state$, '20s !').toBe(expected, { y: readyAt(0), n: notReady(0), z: readyAt(17_000) });
      expectSubscriptions(slow$.subscriptions).toBe('10s ^ 1999ms !');
      expectSubscriptions(last$.subscriptions).toBe('17s (^!)');
    }),
  );
});
