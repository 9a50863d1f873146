import { it } from 'vitest';
import { retryListening } from '../../../src/server/listening/retry-listening.js';
import { inTurn, marbles } from '../marbles.js';

it(
  'says what failed and starts the server again 5 s later, as often as it takes',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const busy = cold('   --#                    ', {}, new Error('busy'));
    const breaking = cold('               u---#  ', { u: 'up' }, new Error('gone'));
    const server$ = inTurn(busy, breaking, cold('u', { u: 'up' }));
    const expected = '    --b 4999ms u---g 4999ms u';
    const unsub = '       --- 10006ms -----------!';
    const failed = (problem: string) => ({ kind: 'failed' as const, problem, retryInMs: 5000 });
    expectObservable(server$.pipe(retryListening(scheduler)), unsub).toBe(expected, {
      b: failed('busy'),
      g: failed('gone'),
      u: 'up',
    });
    expectSubscriptions(busy.subscriptions).toBe('^-!');
    expectSubscriptions(breaking.subscriptions).toBe('-- 5000ms ^---!');
  }),
);
