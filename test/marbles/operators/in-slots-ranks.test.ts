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
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { inSlots } from '../../../src/streams/operators/in-slots.js';
import { marbles } from '../marbles.js';

type InSlot = ReturnType<typeof inSlots>;

const isUpperCase = (name: string): boolean => name === name.toUpperCase();

/** A call that emits its name when it begins. Upper case goes first. */
const beginning = (name: string, inSlot: InSlot, call$: Observable<string>): Observable<string> =>
  concat(of(name), call$).pipe(inSlot(isUpperCase(name) ? 1 : 0));

describe('what waits for a slot', () => {
  it(
    'begins by rank, except every fourth, which is the one that waits longest',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const name$ = hot('abcduvWXYZ              ');
      const call = cold('----------|             ');
      const begun = '    abcd------WXYu------Zv  ';
      const inSlot = inSlots({ count: 4, scheduler });
      expectObservable(name$.pipe(mergeMap((name) => beginning(name, inSlot, call))), '----------------------!').toBe(
        begun,
      );
    }),
  );

  it(
    'is overtaken by what follows from the answer of the one before, if that goes first',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const name$ = hot('abcde        ');
      const call = cold('------(v|)   ');
      const begun = '    abcd--Ae---- ';
      const inSlot = inSlots({ count: 4, scheduler });
      const follow = (name: string) => (name === 'a' ? beginning('A', inSlot, NEVER) : NEVER);
      const begun$ = name$.pipe(
        mergeMap((name) =>
          beginning(name, inSlot, call).pipe(mergeMap((value) => (value === 'v' ? follow(name) : of(value)))),
        ),
      );
      expectObservable(begun$, '------------!').toBe(begun);
    }),
  );
});

describe('an unsubscription', () => {
  /** What happens, in its order, when the first of two that run in one slot after another is cancelled. */
  const cancelled = (hasWaited: boolean): readonly string[] => {
    const inSlot = inSlots({ count: 1 });
    const steps: string[] = [];
    const named = (name: string) =>
      defer(() => {
        steps.push(`${name} begins`);
        return NEVER.pipe(finalize(() => steps.push(`${name} is cancelled`)));
      }).pipe(inSlot());
    const before = hasWaited ? NEVER.pipe(inSlot()).subscribe() : undefined;
    const first = named('first').subscribe();
    named('second').subscribe();
    before?.unsubscribe();
    first.unsubscribe();
    return steps;
  };

  it.each([
    ['began at once', false],
    ['had to wait', true],
  ])('of one that %s cancels it before the next one begins', (_, hasWaited) => {
    expect(cancelled(hasWaited)).toEqual(['first begins', 'first is cancelled', 'second begins']);
  });
});

const COUNT = 4;
const LONGEST_MS = 1_000;

const someCall = fc.record({
  atMs: fc.integer({ min: 0, max: 3_000 }),
  takesMs: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constant('for good' as const)),
  fails: fc.boolean(),
  rank: fc.integer({ min: 0, max: 2 }),
  leavesAfterMs: fc.option(fc.integer({ min: 0, max: 2_000 }), { freq: 4 }),
});

test.prop([fc.array(someCall, { maxLength: 150 })])(
  'in any history, no slot is given twice, no subscription starves, and no slot is lost',
  (calls) => {
    const scheduler = new TestScheduler(() => true);
    scheduler.run(() => {
      const begun = new Set<number>();
      /** When those that run began. */
      const running = new Map<number, number>();
      const inSlot = inSlots({ count: COUNT, longestMs: LONGEST_MS, scheduler });
      const call = ({ takesMs, fails, rank }: (typeof calls)[number], index: number) =>
        defer(() => {
          const now = scheduler.now();
          begun.add(index);
          running.set(index, now);
          const holders = [...running.values()].filter((since) => now - since < LONGEST_MS);
          expect(holders.length).toBeLessThanOrEqual(COUNT);
          return (takesMs === 'for good' ? NEVER : timer(takesMs)).pipe(
            tap(() => {
              if (fails) throw new Error('it failed');
            }),
            finalize(() => running.delete(index)),
          );
        }).pipe(
          inSlot(rank),
          catchError((error: unknown) => {
            expect(error).toEqual(new Error('it failed'));
            return EMPTY;
          }),
        );
      for (const [index, one] of calls.entries()) {
        const left$ = one.leavesAfterMs === null ? NEVER : timer(one.leavesAfterMs);
        timer(one.atMs)
          .pipe(mergeMap(() => call(one, index).pipe(takeUntil(left$))))
          .subscribe();
      }
      scheduler.flush();
      const stayed = calls.flatMap(({ leavesAfterMs }, index) => (leavesAfterMs === null ? [index] : []));
      expect(stayed.filter((index) => !begun.has(index))).toEqual([]);

      // Each slot is free again, so that as many begin at once.
      let beginNow = 0;
      for (let one = 0; one < 2 * COUNT; one += 1)
        defer(() => {
          beginNow += 1;
          return NEVER;
        })
          .pipe(inSlot())
          .subscribe();
      expect(beginNow).toBe(COUNT);
    });
  },
);
