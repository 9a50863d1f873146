import { map, mergeMap, type Observable, of } from 'rxjs';
import { describe, it } from 'vitest';
import { type RateLimit, rateLimit } from '../../../src/streams/cluster/rate-limit.js';
import { marbles } from '../marbles.js';

const begun = (asked$: Observable<string>, limit: RateLimit): Observable<string> =>
  asked$.pipe(mergeMap((name) => of(name).pipe(limit())));

describe('what shares a rate', () => {
  it(
    'begins as a burst at once, and then each time a token has come, in the order in which it was asked',
    marbles(({ hot, expectObservable, scheduler }) => {
      const asked = hot('   (abcd)---------e');
      const expected = '    (ab)c---d------e';
      const limit = rateLimit({ perSecond: 250, burst: 2 }, scheduler);
      expectObservable(begun(asked, limit)).toBe(expected);
    }),
  );

  it(
    'saves tokens up to its burst and no further',
    marbles(({ hot, expectObservable, scheduler }) => {
      const asked = hot('   (ab) 996ms (cdef)         ');
      const expected = '    (ab) 996ms (cd)e---f';
      const limit = rateLimit({ perSecond: 250, burst: 2 }, scheduler);
      expectObservable(begun(asked, limit)).toBe(expected);
    }),
  );

  it(
    'gets the parts of a millisecond that it has waited too long for',
    marbles(({ hot, expectObservable, scheduler }) => {
      // One each 3.333 ms: the third is ready after ten and not after twelve.
      const asked = hot('   (abcd)');
      const expected = '    a---b--c--d';
      const limit = rateLimit({ perSecond: 300, burst: 1 }, scheduler);
      expectObservable(begun(asked, limit)).toBe(expected);
    }),
  );

  it(
    'returns a token if no other was reserved after it, and leaves it unused otherwise',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const limit = rateLimit({ perSecond: 100, burst: 1 }, scheduler);
      const work = cold('(w|)');
      const source = work.pipe(limit());
      expectObservable(source).toBe('                     (w|)');
      expectObservable(source, '-^--!').toBe('            -');
      // Asked when the one before had gone: its place is taken.
      expectObservable(source, '-----^--------------!').toBe('- 9ms (w|)');
      expectObservable(source, '------^----!').toBe('     -');
      expectObservable(source, '-------^ 30ms !').toBe('30ms (w|)');
      expectSubscriptions(work.subscriptions).toBe(['(^!)', '10ms (^!)', '30ms (^!)']);
    }),
  );

  it(
    'says how long it waited',
    marbles(({ hot, expectObservable, scheduler }) => {
      const limit = rateLimit({ perSecond: 250, burst: 1 }, scheduler);
      const waits: number[] = [];
      const each$ = hot('(abc)').pipe(
        mergeMap(() =>
          of(0).pipe(
            limit((waitedMs) => waits.push(waitedMs)),
            map(() => String(waits.at(-1))),
          ),
        ),
      );
      expectObservable(each$).toBe('a---b---c', { a: '0', b: '4', c: '8' });
    }),
  );
});
