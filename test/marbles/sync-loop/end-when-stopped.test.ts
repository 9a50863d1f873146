import { describe, it } from 'vitest';
import type { WorkerOutcome } from '../../../src/streams/pod-workers/pod-workers.js';
import { endWhenStopped } from '../../../src/streams/sync-loop/end-when-stopped.js';
import { marbles } from '../marbles.js';

const outcome = (next: WorkerOutcome['next']): WorkerOutcome => ({
  uid: 'uid-1',
  work: 'terminated',
  next,
  durationMs: 0,
  journalId: '1',
});
/** A run of a worker that goes on, and one after which the worker rests. */
const outcomes = { a: outcome('advance'), r: outcome('rest') };

describe('the end of the outcomes of workers', () => {
  it(
    'the outcomes go on without a stop, although no container can run',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const outcome$ = hot('-r-a-r|', outcomes);
      const stop$ = hot('   -------');
      const expected = '    -r-a-r|';
      expectObservable(outcome$.pipe(endWhenStopped(stop$, () => true))).toBe(expected, outcomes);
      expectSubscriptions(outcome$.subscriptions).toBe('^-----!');
    }),
  );

  it(
    'the outcomes end after a stop with the one after which no container can run, and not with a worker that goes on',
    marbles(({ hot, expectObservable, expectSubscriptions, scheduler }) => {
      const outcome$ = hot('-r--r-a-r-r', outcomes);
      const stop$ = hot('   --s--------');
      const subscribed = '  ^-------!  ';
      const expected = '    -r--r-a-(r|)';
      const hasStopped = () => scheduler.now() >= 5;
      expectObservable(outcome$.pipe(endWhenStopped(stop$, hasStopped))).toBe(expected, outcomes);
      expectSubscriptions(outcome$.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'the outcomes end at once with a request to stop if no container can run then, the first or a later one',
    marbles(({ hot, expectObservable, scheduler }) => {
      const outcome$ = hot('-r-----r', outcomes);
      const hasStopped = () => scheduler.now() >= 3;
      expectObservable(outcome$.pipe(endWhenStopped(hot('----s'), hasStopped))).toBe('-r--|', outcomes);
      expectObservable(outcome$.pipe(endWhenStopped(hot('--s--s'), hasStopped))).toBe('-r---|', outcomes);
    }),
  );

  it(
    'an error of the workers ends the outcomes with it',
    marbles(({ hot, expectObservable }) => {
      const outcome$ = hot('-r-#', outcomes);
      expectObservable(outcome$.pipe(endWhenStopped(hot('--s--'), () => false))).toBe('-r-#', outcomes);
    }),
  );
});
