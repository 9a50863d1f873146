import { describe, it } from 'vitest';
import type { StatusResponse } from '../../../src/generated/runtime/v1/api.js';
import { runtimeStatuses } from '../../../src/streams/runtime-health/runtime-statuses.js';
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

describe('the status of the runtime', () => {
  it(
    'is asked for at once and 5 s after each answer; a call that fails says nothing',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const answers = { y: answer(true), n: answer(false) };
      const ready$ = cold<StatusResponse>('(y|)', answers);
      const slow$ = cold<StatusResponse>('2s (n|)', answers);
      const last$ = cold<StatusResponse>('(y|)', answers);
      const answer$ = inTurn<StatusResponse>(ready$, cold('#'), slow$, last$);
      const status$ = runtimeStatuses({ runtime: { status: () => answer$ }, log: quiet, scheduler });
      // Asked at 0, 5, 10 and, since the third answer took 2 s, 17 s.
      const expected = ' y 11999ms n 4999ms y';
      expectObservable(status$, '20s !').toBe(expected, answers);
      expectSubscriptions(slow$.subscriptions).toBe('10s ^ 1999ms !');
      expectSubscriptions(last$.subscriptions).toBe('17s (^!)');
    }),
  );
});
