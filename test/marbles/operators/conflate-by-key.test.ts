import { map, Observable, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { conflateByKey } from '../../../src/streams/operators/conflate-by-key.js';
import { marbles } from '../marbles.js';

const first = (value: string) => value.charAt(0);

describe('conflateByKey', () => {
  it(
    'runs one at a time per key, then only the newest value that waited',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const value$ = hot('  a-b-c---d----|       ');
      const work$ = cold('  -----(x|)            ');
      const expected = '    -----a----c----(d|)  ';
      const runs = ['       ^----!               ', '-----^----!', '----------^----!'];
      const project = (value: string) => work$.pipe(map(() => value));
      expectObservable(value$.pipe(conflateByKey(() => 'key', project))).toBe(expected);
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
      expectObservable(value$.pipe(conflateByKey(first, project)), unsub).toBe(expected, values);
    }),
  );

  it(
    'emits everything of a run, and stays idle between runs',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const value$ = hot('  a-----a---|  ');
      const work$ = cold('  xy-z|        ');
      const expected = '    xy-z--xy-z|  ';
      expectObservable(value$.pipe(conflateByKey(first, () => work$))).toBe(expected);
      expectSubscriptions(work$.subscriptions).toBe(['^---!', '------^---!']);
    }),
  );

  it(
    'ends with nothing, passes errors of the source and of a run, and cancels every run when left',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const work$ = cold('------(x|)');
      const project = () => work$;
      expectObservable(hot('--|').pipe(conflateByKey(first, project))).toBe('--|');
      expectObservable(hot('--#').pipe(conflateByKey(first, project))).toBe('--#');
      expectObservable(hot('-a-').pipe(conflateByKey(first, () => cold('--#')))).toBe('---#');
      expectObservable(hot('ab-').pipe(conflateByKey(first, project)), '---!').toBe('----');
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
    value$.pipe(conflateByKey(first, project)).subscribe((value) => heard.push(value));
    value$.next('a1');
    expect(heard).toEqual(['a1', 'a2', 'a3']);
  });

  it('keeps a value that comes in while a synchronous run emits', () => {
    const value$ = new Subject<string>();
    const heard: string[] = [];
    value$.pipe(conflateByKey(first, (value) => of(value))).subscribe((value) => {
      heard.push(value);
      if (value === 'a1') value$.next('a2');
    });
    value$.next('a1');
    expect(heard).toEqual(['a1', 'a2']);
  });
});
