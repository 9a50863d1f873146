import { defer, of, tap } from 'rxjs';
import { describe, it } from 'vitest';
import { reuseByKey } from '../../../src/streams/operators/reuse-by-key.js';
import { inTurn, marbles } from '../marbles.js';

const LONG = 100;

describe('an answer under a key', () => {
  it(
    'is reused until the lifetime of its value is over; then the source is subscribed again',
    marbles(({ cold, time, expectObservable, expectSubscriptions, scheduler }) => {
      const first = cold('     ---(y|)               ');
      const second = cold('             -(n|)        ');
      const third = cold('                  -(y|)    ');
      const longMs = time('    -----|                ');
      const shortMs = time('   --|                   ');
      const reused = reuseByKey<string>({
        lifetimeMs: (value) => (value === 'y' ? longMs : shortMs),
        most: 9,
        scheduler,
      });
      const value$ = inTurn(first, second, third).pipe(reused('a'));
      expectObservable(value$, '^                  ').toBe('---(y|)');
      expectObservable(value$, '-^                 ').toBe('---(y|)');
      expectObservable(value$, '-------^           ').toBe('-------(y|)');
      expectObservable(value$, '--------^          ').toBe('---------(n|)');
      expectObservable(value$, '----------^        ').toBe('----------(n|)');
      expectObservable(value$, '-----------^       ').toBe('------------(y|)');
      expectSubscriptions(first.subscriptions).toBe(' ^--!');
      expectSubscriptions(second.subscriptions).toBe('--------^!');
      expectSubscriptions(third.subscriptions).toBe(' -----------^!');
    }),
  );

  it(
    'is its own, also while others wait',
    marbles(({ cold, expectObservable, scheduler }) => {
      const reused = reuseByKey<string>({ lifetimeMs: () => LONG, most: 9, scheduler });
      expectObservable(cold('--(a|)').pipe(reused('a'))).toBe('--(a|)');
      expectObservable(cold('-(b|)').pipe(reused('b'))).toBe('-(b|)');
      expectObservable(cold('-(x|)').pipe(reused('a')), '---^').toBe('---(a|)');
    }),
  );

  it(
    'that failed is not kept, but all that waited for it receive the error',
    marbles(({ cold, expectObservable, scheduler }) => {
      const reused = reuseByKey<string>({ lifetimeMs: () => LONG, most: 9, scheduler });
      const value$ = inTurn<string>(cold('--#'), cold('-(f|)')).pipe(reused('a'));
      expectObservable(value$, '^   ').toBe('--#');
      expectObservable(value$, '-^  ').toBe('--#');
      expectObservable(value$, '---^').toBe('----(f|)');
    }),
  );

  it(
    'is cancelled without subscribers, and requested again by the next one',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const reused = reuseByKey<string>({ lifetimeMs: () => LONG, most: 9, scheduler });
      const source = cold('-----(s|)');
      const value$ = source.pipe(reused('a'));
      expectObservable(value$, '^-!').toBe('---');
      expectObservable(value$, '---^').toBe('--------(s|)');
      expectSubscriptions(source.subscriptions).toBe(['^-!', '---^----!']);
    }),
  );

  it(
    'goes first if there are too many and it is unused for the longest time',
    marbles(({ cold, expectObservable, scheduler }) => {
      const reused = reuseByKey<string>({ lifetimeMs: () => LONG, most: 2, scheduler });
      const asked = (key: string, at: string) => expectObservable(cold('(n|)').pipe(reused(key)), at);
      const again = (key: string, at: string) => expectObservable(cold('(m|)').pipe(reused(key)), at);
      asked('a', '^     ').toBe('(n|)');
      asked('b', '-^    ').toBe('-(n|)');
      again('a', '--^   ').toBe('--(n|)');
      asked('c', '---^  ').toBe('---(n|)');
      again('a', '----^ ').toBe('----(n|)');
      again('b', '-----^').toBe('-----(m|)');
    }),
  );

  it(
    'is kept before its subscribers receive it',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const reused = reuseByKey<string>({ lifetimeMs: () => LONG, most: 2, scheduler });
      const source = cold('-(s|)');
      const once$ = source.pipe(reused('a'));
      expectObservable(defer(() => once$).pipe(tap(() => expectObservable(once$)))).toBe('-(s|)');
      expectSubscriptions(source.subscriptions).toBe('^!');
      expectObservable(of('x').pipe(reused('other'))).toBe('(x|)');
    }),
  );
});
