import { take } from 'rxjs';
import { describe, it } from 'vitest';
import { reuseFor } from '../../../src/streams/operators/reuse-for.js';
import { inTurn, marbles } from '../marbles.js';

describe('an answer that is kept', () => {
  it(
    'is reused until its lifetime is over, counted from its end; then the source is subscribed again',
    marbles(({ cold, time, expectObservable, expectSubscriptions, scheduler }) => {
      const first = cold('     ---(1|)             ');
      const second = cold('             -(2|)      ');
      const lifetimeMs = time('   -----|            ');
      const value$ = inTurn(first, second).pipe(reuseFor(lifetimeMs, scheduler));
      expectObservable(value$, '^               ').toBe('---(1|)');
      expectObservable(value$, '-^              ').toBe('---(1|)');
      expectObservable(value$, '----^           ').toBe('----(1|)');
      expectObservable(value$, '-------^        ').toBe('-------(1|)');
      expectObservable(value$, '--------^       ').toBe('---------(2|)');
      expectObservable(value$, '-------------^  ').toBe('-------------(2|)');
      expectSubscriptions(first.subscriptions).toBe(' ^--!');
      expectSubscriptions(second.subscriptions).toBe('--------^!');
    }),
  );

  it(
    'that failed is not kept, but all that waited for it receive the error',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const [broken, fine] = [cold('--#'), cold('-(f|)')];
      const value$ = inTurn(broken, fine).pipe(reuseFor(5, scheduler));
      expectObservable(value$, '^    ').toBe('--#');
      expectObservable(value$, '-^   ').toBe('--#');
      expectObservable(value$, '---^ ').toBe('----(f|)');
      expectSubscriptions(fine.subscriptions).toBe('---^!');
    }),
  );

  it(
    'is cancelled without subscribers, and requested again by the next one',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const source = cold('-----(s|)');
      const value$ = source.pipe(reuseFor(5, scheduler));
      expectObservable(value$, '^-!').toBe('---');
      expectObservable(value$, '---^').toBe('--------(s|)');
      expectSubscriptions(source.subscriptions).toBe(['^-!', '---^----!']);
    }),
  );

  it(
    'is kept also by a subscriber that unsubscribes on its first value',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const source = cold('-(s|)');
      const value$ = source.pipe(reuseFor(5, scheduler));
      expectObservable(value$.pipe(take(1))).toBe('-(s|)');
      expectObservable(value$.pipe(take(1)), '--^').toBe('--(s|)');
      expectSubscriptions(source.subscriptions).toBe('^!');
    }),
  );

  it(
    'of nothing is nothing',
    marbles(({ cold, expectObservable, scheduler }) => {
      expectObservable(cold('-|').pipe(reuseFor(5, scheduler))).toBe('-|');
    }),
  );
});
