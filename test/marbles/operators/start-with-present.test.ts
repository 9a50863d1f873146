import { filter, observeOn, of, queueScheduler, share, Subject, tap, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { startWithPresent } from '../../../src/streams/operators/start-with-present.js';
import { marbles } from '../marbles.js';

describe('a stream that starts with the present', () => {
  it(
    'begins for each subscriber with what is so then, and passes errors',
    marbles(({ hot, expectObservable }) => {
      let present = 'a';
      const source$ = hot('-b---c---#').pipe(tap((value) => (present = value)));
      const following$ = source$.pipe(startWithPresent(() => of(present)));
      expectObservable(following$, '^').toBe('ab---c---#');
      expectObservable(following$, '---^').toBe('---b-c---#');
    }),
  );

  it('has what a subscriber causes while it receives the beginning, after it', () => {
    const value$ = new Subject<string>();
    const seen: string[] = [];
    value$
      .pipe(
        observeOn(queueScheduler),
        share(),
        startWithPresent(() => of('present')),
        tap((value) => seen.push(value)),
        filter((value) => value === 'present'),
      )
      .subscribe(() => {
        value$.next('answer');
        seen.push('end of the answer');
      });
    expect(seen).toEqual(['present', 'end of the answer', 'answer']);
  });

  it(
    'fails with what the present fails with',
    marbles(({ hot, expectObservable }) => {
      expectObservable(hot('-b-').pipe(startWithPresent<string>(() => throwError(() => 'no')))).toBe('#', {}, 'no');
    }),
  );
});
