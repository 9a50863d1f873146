import { fc, test } from '@fast-check/vitest';
import {
  connect,
  delay,
  filter,
  fromEvent,
  map,
  merge,
  mergeMap,
  Observable,
  of,
  race,
  Subject,
  take,
  timer,
} from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { exhaustMapLatest, exhaustMapLatestBy } from '../../../src/streams/operators/exhaust-map-latest.js';
import { marbles } from '../marbles.js';

const first = (value: string) => value.charAt(0);

describe('exhaustMapLatestBy', () => {
  it(
    'runs one at a time per key, then only the newest value that waited',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const value$ = hot('  a-b-c---d----|       ');
      const work$ = cold('  -----(x|)            ');
      const expected = '    -----a----c----(d|)  ';
      const runs = ['       ^----!               ', '-----^----!', '----------^----!'];
      const project = (value: string) => work$.pipe(map(() => value));
      expectObservable(value$.pipe(exhaustMapLatestBy(() => 'key', project))).toBe(expected);
      expectSubscriptions(work$.subscriptions).toBe(runs);
    }),
  );

  it(
    'runs keys side by side: one that hangs holds up no other',
    marbles(({ hot, cold, expectObservable }) => {
      const values = { a: 'p1', b: 'q1', c: 'p2', d: 'q2' };
      const value$ = hot('  ab-c-d------', values);
      const expected = '    ---b---d----';
      const unsub = '       -----------!';
      const hanging$ = cold<string>('-');
      const project = (value: string) => (first(value) === 'p' ? hanging$ : cold('--(x|)').pipe(map(() => value)));
      expectObservable(value$.pipe(exhaustMapLatestBy(first, project)), unsub).toBe(expected, values);
    }),
  );

  it(
    'emits everything of a run, and stays idle between runs',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const value$ = hot('  a-----a---|  ');
      const work$ = cold('  xy-z|        ');
      const expected = '    xy-z--xy-z|  ';
      expectObservable(value$.pipe(exhaustMapLatestBy(first, () => work$))).toBe(expected);
      expectSubscriptions(work$.subscriptions).toBe(['^---!', '------^---!']);
    }),
  );

  it(
    'ends with nothing, passes errors of the source and of a run, and cancels every run when left',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const work$ = cold('------(x|)');
      const project = () => work$;
      expectObservable(hot('--|').pipe(exhaustMapLatestBy(first, project))).toBe('--|');
      expectObservable(hot('--#').pipe(exhaustMapLatestBy(first, project))).toBe('--#');
      expectObservable(hot('-a-').pipe(exhaustMapLatestBy(first, () => cold('--#')))).toBe('---#');
      expectObservable(hot('ab-').pipe(exhaustMapLatestBy(first, project)), '---!').toBe('----');
      expectSubscriptions(work$.subscriptions).toBe(['^--!', '-^-!']);
    }),
  );

  it('starts over for a value that the teardown of the last run brings, also while results go out', () => {
    const value$ = new Subject<string>();
    const heard: string[] = [];
    const rest = ['a3', 'a2'];
    const project = (value: string) =>
      new Observable<string>((subscriber) => {
        subscriber.next(value);
        subscriber.complete();
        return () => {
          const next = rest.pop();
          if (next !== undefined) value$.next(next);
        };
      });
    value$.pipe(exhaustMapLatestBy(first, project)).subscribe((value) => heard.push(value));
    value$.next('a1');
    expect(heard).toEqual(['a1', 'a2', 'a3']);
  });

  it('keeps a value that comes in while a synchronous run emits', () => {
    const value$ = new Subject<string>();
    const heard: string[] = [];
    value$.pipe(exhaustMapLatestBy(first, (value) => of(value))).subscribe((value) => {
      heard.push(value);
      if (value === 'a1') value$.next('a2');
    });
    value$.next('a1');
    expect(heard).toEqual(['a1', 'a2']);
  });

  it(
    'fires the signal of the run of the same key only',
    marbles(({ hot, time, expectObservable }) => {
      const values = { p: 'p-', q: 'q-', K: 'pK' };
      const value$ = hot('   pq-K--------|', values);
      const whole = time('   --------|    ');
      const expected = '     ---x-----q-K|';
      const run = (value: string, signal: AbortSignal) =>
        race(timer(whole).pipe(map(() => value)), fromEvent(signal, 'abort').pipe(map(() => 'x'))).pipe(take(1));
      const preempts = (incoming: string) => incoming === 'pK';
      expectObservable(value$.pipe(exhaustMapLatestBy(first, run, preempts))).toBe(expected, { ...values, x: 'x' });
    }),
  );
});

const arrival = fc.record({
  key: fc.constantFrom('p', 'q', 'r'),
  at: fc.nat(40),
  duration: fc.nat(9),
  kill: fc.boolean(),
});
type Arrival = typeof arrival extends fc.Arbitrary<infer T> ? T : never;

test.prop([fc.array(arrival, { maxLength: 30 })], { numRuns: 500 })(
  'is one exhaustMapLatest per key, side by side',
  (arrivals) => {
    const run = ({ key, at, duration }: Arrival, signal: AbortSignal) => {
      const done$ = duration === 0 ? of('done') : timer(duration).pipe(map(() => 'done'));
      const letGo$ = fromEvent(signal, 'abort').pipe(
        delay(2),
        map(() => 'ended early'),
      );
      return race(done$, letGo$).pipe(
        take(1),
        map((how) => `${key}${at} ${how}`),
      );
    };
    const preempts = ({ kill }: Arrival) => kill;
    const history = (work: (value$: Observable<Arrival>) => Observable<string>): readonly string[] => {
      const scheduler = new TestScheduler(() => true);
      const lines: string[] = [];
      scheduler.run(() => {
        of(...arrivals)
          .pipe(
            mergeMap((value) => timer(value.at).pipe(map(() => value))),
            work,
          )
          .subscribe((line) => lines.push(`${scheduler.now()} ${line}`));
      });
      return lines.toSorted();
    };
    const sideBySide = connect((value$: Observable<Arrival>) =>
      merge(
        ...['p', 'q', 'r'].map((name) =>
          value$.pipe(
            filter(({ key }) => key === name),
            exhaustMapLatest(run, preempts),
          ),
        ),
      ),
    );
    expect(history(exhaustMapLatestBy(({ key }) => key, run, preempts))).toEqual(history(sideBySide));
  },
);
