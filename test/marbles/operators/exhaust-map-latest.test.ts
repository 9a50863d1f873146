import { fc, test } from '@fast-check/vitest';
import { concat, delay, EMPTY, fromEvent, map, mergeMap, NEVER, of, race, take, tap, throwError, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { expect, it } from 'vitest';
import { exhaustMapLatest } from '../../../src/streams/operators/exhaust-map-latest.js';
import { marbles } from '../marbles.js';

it(
  'runs one at a time, then only the newest undelivered value',
  marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
    const update$ = hot('a-b-c---d----|       ');
    const work = cold('  -----(x|)            ');
    const expected = '   -----a----c----(d|)  ';
    const runs = ['      ^----!               ', '-----^----!', '----------^----!'];
    expectObservable(update$.pipe(exhaustMapLatest((value) => work.pipe(map(() => value))))).toBe(expected);
    expectSubscriptions(work.subscriptions).toBe(runs);
  }),
);

it(
  'runs for nothing when nothing comes, and ends with its source',
  marbles(({ hot, expectObservable }) => {
    expectObservable(hot('---|').pipe(exhaustMapLatest(() => of(1)))).toBe('---|');
  }),
);

it(
  'stays flat and in order when every run is over at once',
  marbles(({ hot, expectObservable }) => {
    expectObservable(hot('(abc)-d|').pipe(exhaustMapLatest((value) => of(value)))).toBe('(abc)-d|');
  }),
);

it(
  'emits everything that a run emits, and ends with the last run when the source is over',
  marbles(({ hot, cold, expectObservable }) => {
    const update$ = hot('a-----b|');
    const work = cold('  -(xy|)  ');
    expectObservable(update$.pipe(exhaustMapLatest((value) => work.pipe(map(() => value))))).toBe('-(aa)--(bb|)');
  }),
);

it(
  'ends with an error of a run, and with one of its source',
  marbles(({ hot, expectObservable }) => {
    expectObservable(
      hot('a-b-').pipe(exhaustMapLatest((value) => (value === 'b' ? throwError(() => 'b') : of(value)))),
    ).toBe('a-#', undefined, 'b');
    expectObservable(hot('a-#').pipe(exhaustMapLatest(() => NEVER))).toBe('--#');
  }),
);

it(
  'fires the signal of a run when a value preempts it, and waits until the run has ended',
  marbles(({ hot, time, expectObservable }) => {
    const update$ = hot('  a--K-b----|');
    const whole = time('   --------|  ');
    const lettingGo = time('----|      ');
    const expected = '     -------x-------(b|)';
    const run = (value: string, signal: AbortSignal) =>
      race(
        timer(whole).pipe(map(() => value)),
        fromEvent(signal, 'abort').pipe(
          take(1),
          delay(lettingGo),
          map(() => 'x'),
        ),
      ).pipe(take(1));
    expectObservable(update$.pipe(exhaustMapLatest(run, (incoming) => incoming === 'K'))).toBe(expected);
  }),
);

it(
  'fires the signal of the run in flight when it is unsubscribed',
  marbles(({ hot, expectObservable, scheduler }) => {
    let aborted = false;
    const run = (_: string, signal: AbortSignal) => {
      signal.addEventListener('abort', () => (aborted = true));
      return NEVER;
    };
    expectObservable(hot('a---').pipe(exhaustMapLatest(run)), '--!').toBe('---');
    scheduler.schedule(() => expect(aborted).toBe(true), 3);
  }),
);

interface Arrival {
  readonly gap: number;
  readonly duration: number;
  readonly isKill: boolean;
}
const arrival = fc.record({ gap: fc.nat(12), duration: fc.nat(12), isKill: fc.boolean() });
const LETTING_GO = 2;

/** The specification of the operator as a loop over time: the start and the end of each run. */
const reference = (arrivals: readonly Arrival[]): readonly string[] => {
  const at = arrivals.map((_, index) => arrivals.slice(0, index + 1).reduce((sum, { gap }) => sum + gap, 0));
  const history: string[] = [];
  let next = 0;
  let slot: number | undefined;
  let free = 0;
  while (next < arrivals.length || slot !== undefined) {
    if (slot === undefined) {
      free = at[next]!;
      slot = next++;
    }
    const index: number = slot;
    slot = undefined;
    let end = free + arrivals[index]!.duration;
    let isAsked = false;
    // What arrives in the instant in which a run ends still finds it running: sources were scheduled first.
    while (next < arrivals.length && at[next]! <= end && (at[next]! > free || end > free)) {
      if (arrivals[next]!.isKill && !isAsked) {
        isAsked = true;
        end = Math.min(end, at[next]! + LETTING_GO);
      }
      slot = next++;
    }
    history.push(`${index}:${free}-${end}`);
    free = end;
  }
  return history;
};

const actual = (arrivals: readonly Arrival[]): readonly string[] => {
  const scheduler = new TestScheduler(() => true);
  const history: string[] = [];
  scheduler.run(() => {
    let running = 0;
    const at = arrivals.map((_, index) => arrivals.slice(0, index + 1).reduce((sum, { gap }) => sum + gap, 0));
    const source$ = concat(
      of(...arrivals.map((_, index) => index)).pipe(mergeMap((index) => timer(at[index]!).pipe(map(() => index)))),
      EMPTY,
    );
    source$
      .pipe(
        exhaustMapLatest(
          (index, signal) => {
            const startedAt = scheduler.now();
            expect(++running).toBe(1);
            const ends$ = arrivals[index]!.duration === 0 ? of(0) : timer(arrivals[index]!.duration);
            const letsGo$ = fromEvent(signal, 'abort').pipe(take(1), delay(LETTING_GO));
            return race(ends$, letsGo$).pipe(
              take(1),
              tap(() => {
                running--;
                history.push(`${index}:${startedAt}-${scheduler.now()}`);
              }),
            );
          },
          (incoming) => arrivals[incoming]!.isKill,
        ),
      )
      .subscribe();
  });
  return history;
};

test.prop([fc.array(arrival, { maxLength: 25 })], { numRuns: 2000 })(
  'behaves as the loop that specifies it',
  (arrivals) => {
    expect(actual(arrivals)).toEqual(reference(arrivals));
  },
);

test.prop([fc.array(arrival, { minLength: 1, maxLength: 25 })])('always delivers the last value', (arrivals) => {
  expect(actual(arrivals).at(-1)).toMatch(new RegExp(`^${arrivals.length - 1}:`));
});
