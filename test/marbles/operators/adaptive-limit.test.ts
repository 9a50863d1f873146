import { fc, test } from '@fast-check/vitest';
import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  mergeMap,
  NEVER,
  type Observable,
  of,
  range,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { type AdaptiveLimit, adaptiveLimit } from '../../../src/streams/operators/adaptive-limit.js';
import { marbles } from '../marbles.js';

const isUpperCase = (name: string): boolean => name === name.toUpperCase();

/** A call that emits its name when it begins. Upper case goes first. */
const beginning = (name: string, limited: AdaptiveLimit, call$: Observable<string>): Observable<string> =>
  concat(of(name), call$).pipe(limited({ kind: 'call', rank: isUpperCase(name) ? 1 : 0 }));

describe('calls of one limit', () => {
  it(
    'begin four at a time until more is known, and the others in order as slots come free',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const name$ = hot('abcdef--|           ');
      const call = cold('------|             ');
      const begun = '    abcd--ef-----|      ';
      const limited = adaptiveLimit({ scheduler });
      expectObservable(name$.pipe(mergeMap((name) => beginning(name, limited, call)))).toBe(begun);
    }),
  );

  it(
    'begin by rank, except every fourth, which is the call that waits longest',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const name$ = hot('abcduvWXYZ              ');
      const call = cold('----------|             ');
      const begun = '    abcd------WXYu------Zv  ';
      const limited = adaptiveLimit({ scheduler });
      expectObservable(name$.pipe(mergeMap((name) => beginning(name, limited, call))), '----------------------!').toBe(
        begun,
      );
    }),
  );

  it(
    'leave the queue, or their slot, when they are unsubscribed',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const name$ = hot('abcdefg            ');
      const call = cold('------------------|');
      const leave = (name: string) => ({ b: '---------x', e: '----x' })[name] ?? '';
      const begun = '    abcd------f-------g';
      const limited = adaptiveLimit({ scheduler });
      const begun$ = name$.pipe(
        mergeMap((name) => beginning(name, limited, call).pipe(takeUntil(concat(cold(leave(name)), NEVER)))),
      );
      expectObservable(begun$, '-------------------!').toBe(begun);
      expectSubscriptions(call.subscriptions).toBe([
        '^-----------------!',
        '-^--------!        ',
        '--^----------------!',
        '---^---------------!',
        '----------^--------!',
        '------------------^!',
      ]);
    }),
  );

  it(
    'that fail pass their error on and give their slot back',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const name$ = hot('abcde       ');
      const lasts = cold('-----------');
      const fails = cold('-----#     ');
      const begun = '    abcd---(ex) ';
      const limited = adaptiveLimit({ scheduler });
      const begun$ = name$.pipe(
        mergeMap((name) => beginning(name, limited, name === 'c' ? fails : lasts).pipe(catchError(() => of('x')))),
      );
      expectObservable(begun$, '-----------!').toBe(begun);
    }),
  );

  it(
    'that hang give their slot back after a second while nothing is known, and go on',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const name$ = hot('abcdef             ');
      const call = cold('   2000ms |           ');
      const begun = '    abcd 996ms ef      ';
      const limited = adaptiveLimit({ scheduler });
      expectObservable(name$.pipe(mergeMap((name) => beginning(name, limited, call))), '1500ms !').toBe(begun);
      expectSubscriptions(call.subscriptions).toBe([
        '^ 1499ms !',
        '-^ 1498ms !',
        '--^ 1497ms !',
        '---^ 1496ms !',
        '1000ms ^ 499ms !',
        '1001ms ^ 498ms !',
      ]);
    }),
  );

  it(
    'that hang give it back after twice the usual time, once four of them have completed',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const name$ = hot('abcdefghi           ');
      const [usual, hangs] = [cold('800ms |'), NEVER];
      const begun = '    abcd 796ms efgh 1599ms i';
      const limited = adaptiveLimit({ scheduler });
      const begun$ = name$.pipe(mergeMap((name) => beginning(name, limited, 'abcd'.includes(name) ? usual : hangs)));
      expectObservable(begun$, '3000ms !').toBe(begun);
    }),
  );

  it(
    'are overtaken by what follows from the answer of one, if that goes first',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const name$ = hot('abcde        ');
      const call = cold('------(v|)   ');
      const begun = '    abcd--Ae---- ';
      const limited = adaptiveLimit({ scheduler });
      const follow = (name: string) => (name === 'a' ? beginning('A', limited, NEVER) : NEVER);
      const begun$ = name$.pipe(
        mergeMap((name) =>
          beginning(name, limited, call).pipe(mergeMap((value) => (value === 'v' ? follow(name) : of(value)))),
        ),
      );
      expectObservable(begun$, '------------!').toBe(begun);
    }),
  );

  it(
    'may end as they begin, however many they are',
    marbles(({ scheduler }) => {
      const ended: number[] = [];
      const limited = adaptiveLimit({ scheduler });
      range(0, 2_000)
        .pipe(mergeMap((index) => of(index).pipe(limited({ kind: 'call' }))))
        .subscribe((index) => ended.push(index));
      expect(ended).toEqual(Array.from({ length: 2_000 }, (_, index) => index));
    }),
  );
});

const someCall = fc.record({
  atMs: fc.integer({ min: 0, max: 3_000 }),
  takesMs: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constant('for good' as const)),
  fails: fc.boolean(),
  rank: fc.integer({ min: 0, max: 2 }),
  kind: fc.constantFrom('one', 'other'),
  leavesAfterMs: fc.option(fc.integer({ min: 0, max: 2_000 }), { freq: 4 }),
});

test.prop([fc.array(someCall, { maxLength: 150 })])(
  'in any history, no slot is given twice, no call starves, and no slot is lost',
  (calls) => {
    const scheduler = new TestScheduler(() => true);
    scheduler.run(() => {
      const begun = new Set<number>();
      let [underWay, heldBefore, held] = [0, 0, 0];
      const limited = adaptiveLimit({
        scheduler,
        observe: (state) => {
          held = state.held;
          if (held > heldBefore) expect(held).toBeLessThanOrEqual(state.limit);
          if (state.waiting > 0) expect(held).toBeGreaterThanOrEqual(state.limit);
          expect(held).toBeLessThanOrEqual(underWay);
          heldBefore = held;
        },
      });
      for (const [index, { atMs, takesMs, fails, rank, kind, leavesAfterMs }] of calls.entries()) {
        const work$ = takesMs === 'for good' ? NEVER : timer(takesMs);
        const call$ = defer(() => {
          begun.add(index);
          underWay += 1;
          return work$.pipe(
            tap(() => {
              if (fails) throw new Error('it failed');
            }),
            finalize(() => (underWay -= 1)),
          );
        });
        const left$ = leavesAfterMs === null ? NEVER : timer(leavesAfterMs);
        timer(atMs)
          .pipe(
            mergeMap(() =>
              call$.pipe(
                limited({ kind, rank }),
                catchError(() => EMPTY),
                takeUntil(left$),
              ),
            ),
          )
          .subscribe();
      }
      scheduler.flush();
      const stayed = calls.flatMap(({ leavesAfterMs }, index) => (leavesAfterMs === null ? [index] : []));
      expect(stayed.filter((index) => !begun.has(index))).toEqual([]);
      expect(held).toBe(0);
    });
  },
);
