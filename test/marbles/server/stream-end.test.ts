import { describe, it } from 'vitest';
import { echoRefusal } from '../../../src/server/streaming/echo-refusal.js';
import { streamEnd } from '../../../src/server/streaming/stream-end.js';
import { inTurn, marbles } from '../marbles.js';

describe('a stream', () => {
  it(
    'lasts while neither side ends',
    marbles(({ cold, expectObservable, scheduler }) => {
      const end$ = streamEnd({ flushed$: cold('----'), closed$: cold('----'), scheduler });
      expectObservable(end$, '^ 600m !').toBe('');
    }),
  );

  it(
    'ends when both sides are closed, or five seconds after the first one has ended',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const flushed$ = cold('              --x---x        ');
      const never$ = cold('                ---------------');
      const closed$ = cold('               -----x         ');
      expectObservable(streamEnd({ flushed$, closed$, scheduler })).toBe('--h--|', { h: 'half-closed' });
      expectObservable(streamEnd({ flushed$, closed$: never$, scheduler })).toBe('--h 4999ms |', { h: 'half-closed' });
      expectSubscriptions(flushed$.subscriptions).toBe(['^-!', '^-!']);
      expectSubscriptions(never$.subscriptions).toBe('^- 5s !');
    }),
  );

  it(
    'ends at once with two connections that break without an end',
    marbles(({ cold, expectObservable, scheduler }) => {
      const end$ = streamEnd({ flushed$: cold('-'), closed$: cold('-x'), scheduler });
      expectObservable(end$).toBe('-|');
    }),
  );
});

describe('the echo of a refusal', () => {
  it(
    'has ten seconds',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const [quick, slow] = [cold('--|'), cold('12s |')];
      const copy$ = inTurn(quick, slow);
      expectObservable(echoRefusal(copy$, scheduler), '^  ').toBe(' --|');
      expectObservable(echoRefusal(copy$, scheduler), '---^').toBe('--- 10s |');
      expectSubscriptions(slow.subscriptions).toBe('---^ 9999ms !');
    }),
  );
});
