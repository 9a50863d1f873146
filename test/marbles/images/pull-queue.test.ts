import { catchError, map, mergeMap, NEVER, type Observable, of } from 'rxjs';
import { describe, it } from 'vitest';
import { type PullQueue, pullQueue } from '../../../src/streams/images/pull-queue.js';
import { errorText } from '../../../src/model/cri/cri-error.js';
import { marbles } from '../marbles.js';

const SECOND = 1_000;

/** What becomes of each pull that comes: its own letter when it worked, `x` when too many have begun. */
const outcomes = (came$: Observable<string>, pull$: Observable<unknown>, queue: PullQueue): Observable<string> =>
  came$.pipe(
    mergeMap((name) =>
      pull$.pipe(
        map(() => name),
        queue(),
        catchError((error: unknown) => of(errorText(error) === 'pull QPS exceeded' ? 'x' : '?')),
      ),
    ),
  );

describe('the pulls of a node', () => {
  it(
    'run one after the other by default, in order of arrival, more than ten as well',
    marbles(({ hot, cold, expectObservable, expectSubscriptions, scheduler }) => {
      const came = hot('     (abcdefghijklmno)');
      const pull = cold('    --(p|)');
      const expected = '     --a-b-c-d-e-f-g-h-i-j-k-l-m-n-o';
      const queue = pullQueue({ perSecond: 0 }, scheduler);
      expectObservable(outcomes(came, pull, queue)).toBe(expected);
      expectSubscriptions(pull.subscriptions).toBe(
        Array.from({ length: 15 }, (_, index) => `${'-'.repeat(2 * index)}^-!`),
      );
    }),
  );

  it(
    'run up to `maxParallel` at a time',
    marbles(({ hot, cold, expectObservable, expectSubscriptions, scheduler }) => {
      const came = hot('     (ab)c--d       ');
      const pull = cold('    ---------(p|)  ');
      const queue = pullQueue({ serialized: false, maxParallel: 2, perSecond: 0 }, scheduler);
      expectObservable(outcomes(came, pull, queue), '^ 30ms !').toBe('---------(ab)-----(cd)');
      expectSubscriptions(pull.subscriptions).toBe([
        '^--------!',
        '^--------!',
        '---------^--------!',
        '---------^--------!',
      ]);
    }),
  );

  it(
    'go all at once where they are not serialized and nothing is said of how many',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const came = hot('     abcdef---------');
      const pull = cold('    --------(p|)   ');
      const expected = '     --------abcdef ';
      expectObservable(outcomes(came, pull, pullQueue({ serialized: false, perSecond: 0 }, scheduler))).toBe(expected);
    }),
  );

  it(
    'that hang hold up the others only where they are serialized',
    marbles(({ cold, expectObservable, scheduler }) => {
      const serial = pullQueue({}, scheduler);
      expectObservable(NEVER.pipe(serial()), '^----!').toBe('------');
      expectObservable(cold('-(p|)').pipe(serial())).toBe('------(p|)');
      const parallel = pullQueue({ serialized: false, maxParallel: 2 }, scheduler);
      expectObservable(NEVER.pipe(parallel()), '^----!').toBe('------');
      expectObservable(cold('-(p|)').pipe(parallel())).toBe('-(p|)');
    }),
  );

  it(
    'leave at once on unsubscribe, from the queue as well as while they run',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const queue = pullQueue({}, scheduler);
      const [runs, waits, next] = [cold('-'), cold('-'), cold('-(n|)')];
      expectObservable(runs.pipe(queue()), '    ^---!').toBe('-----');
      expectObservable(waits.pipe(queue()), '   ^--!').toBe('----');
      expectObservable(next.pipe(queue())).toBe('-----(n|)');
      expectSubscriptions(runs.subscriptions).toBe('^---!');
      expectSubscriptions(waits.subscriptions).toBe([]);
      expectSubscriptions(next.subscriptions).toBe('----^!');
    }),
  );

  it(
    'begin at most ten at once and then five each second; others fail without asking the runtime',
    marbles(({ hot, cold, expectObservable, expectSubscriptions, scheduler }) => {
      const came = hot(`(abcdefghijkl) ${199 - 14}ms m n 199ms o`);
      const pull = cold('(p|)');
      const queue = pullQueue({ serialized: false }, scheduler);
      expectObservable(outcomes(came, pull, queue)).toBe(`(xxabcdefghij) ${199 - 14}ms x n 199ms o`);
      expectSubscriptions(pull.subscriptions).toBe([
        ...Array.from({ length: 10 }, () => '(^!)'),
        '200ms (^!)',
        '400ms (^!)',
      ]);
    }),
  );

  it(
    'are counted when they begin, not when they come',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const came = hot('      (abc)            ');
      const pull = cold(`     ${SECOND}ms (p|)`);
      const queue = pullQueue({ perSecond: 1, burst: 1 }, scheduler);
      expectObservable(outcomes(came, pull, queue)).toBe('1000ms a 999ms b 999ms c');
    }),
  );
});
