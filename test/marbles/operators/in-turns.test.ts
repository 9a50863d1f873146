import { concatMap, from, merge, mergeMap, NEVER, of, range, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualScheduler } from '../../../src/tools/sim/world/virtual-scheduler.js';
import { inTurns } from '../../../src/streams/operators/in-turns.js';
import { byHop } from '../by-hop.js';
import { marbles } from '../marbles.js';

describe('inTurns', () => {
  it(
    'takes no time, keeps the order, and ends after the last value',
    marbles(({ hot, expectObservable, scheduler }) => {
      const many$ = hot('  ---(abcdefgh|)');
      const expected = '   ---(abcdefgh|)';
      expectObservable(many$.pipe(inTurns({ most: 3, scheduler })())).toBe(expected);
    }),
  );

  it('passes `most` values at once, and as many with each hop after that', () => {
    const hops = byHop((scheduler, passed) => {
      range(1, 8)
        .pipe(inTurns({ most: 3, scheduler })())
        .subscribe({ next: passed, complete: () => passed('|') });
    });
    expect(hops).toEqual(['123', '456', '78|']);
  });

  it('needs no hop for as many as may pass, nor for what comes after a pause', () => {
    const hops = byHop((scheduler, passed) => {
      const inTurn = inTurns({ most: 3, quietMs: 10, scheduler })<number>();
      merge(range(1, 3), timer(11, scheduler).pipe(mergeMap(() => range(4, 3))))
        .pipe(inTurn)
        .subscribe(passed);
    });
    // The second hop is the pause itself.
    expect(hops).toEqual(['123', '456']);
  });

  it('counts on while what comes is in a row, although a little time passes', () => {
    const hops = byHop((scheduler, passed) => {
      const inTurn = inTurns({ most: 3, quietMs: 10, scheduler })<number>();
      merge(range(1, 2), timer(10, scheduler).pipe(mergeMap(() => range(3, 2))))
        .pipe(inTurn)
        .subscribe(passed);
    });
    expect(hops).toEqual(['12', '3', '4']);
  });

  it('shares turns between all that use it, in order of arrival', () => {
    const hops = byHop((scheduler, passed) => {
      const inTurn = inTurns({ most: 2, scheduler });
      from('abcde')
        .pipe(mergeMap((value) => of(value).pipe(inTurn())))
        .subscribe(passed);
      range(1, 2).pipe(inTurn()).subscribe(passed);
    });
    expect(hops).toEqual(['ab', 'cd', 'e1', '2']);
  });

  it('counts by weight, and lets what is too heavy pass alone', () => {
    const hops = byHop((scheduler, passed) => {
      of('a', 'bb', 'ccccc', 'd', 'e')
        .pipe(inTurns({ most: 3, scheduler })(({ length }) => length))
        .subscribe(passed);
    });
    expect(hops).toEqual(['abb', 'ccccc', 'de']);
  });

  it('puts what comes of a value that passes behind those that wait', () => {
    const hops = byHop((scheduler, passed) => {
      const inTurn = inTurns({ most: 2, scheduler });
      const again = (value: string) => of(value).pipe(inTurn());
      from('abcd')
        .pipe(
          mergeMap((value) =>
            of(value).pipe(
              inTurn(),
              concatMap((one) => merge(of(one), again(one.toUpperCase()))),
            ),
          ),
        )
        .subscribe(passed);
    });
    expect(hops).toEqual(['aA', 'bc', 'dB', 'CD']);
  });

  it('forgets a value that is unsubscribed while it waits, and schedules no hop without a waiting value', () => {
    const scheduler = new VirtualScheduler();
    const inTurn = inTurns({ most: 1, scheduler });
    const passed: string[] = [];
    of('a')
      .pipe(inTurn())
      .subscribe((value) => passed.push(value));
    const waiting = merge(of('b'), NEVER)
      .pipe(inTurn())
      .subscribe((value) => passed.push(value));
    expect(scheduler.pending).toBe(1);
    waiting.unsubscribe();
    expect(scheduler.pending).toBe(0);
    of('c')
      .pipe(inTurn())
      .subscribe((value) => passed.push(value));
    while (scheduler.pending > 0) scheduler.step();
    expect(passed).toEqual(['a', 'c']);
  });

  it(
    'passes an error on at once',
    marbles(({ cold, expectObservable, scheduler }) => {
      const inTurn = inTurns({ most: 1, scheduler });
      expectObservable(cold<string>('(ab#)').pipe(inTurn())).toBe('(a#)');
    }),
  );
});
