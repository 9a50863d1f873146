import { defer, type MonoTypeOperatorFunction, type Observable, of, tap } from 'rxjs';
import { describe, it } from 'vitest';
import { gate } from '../../../src/streams/operators/gate.js';
import { marbles } from '../marbles.js';

/** A gate by what a stream of `o` (open) and `x` (closed) said last; the newer value of a key is held. */
const byKey = (
  door$: Observable<string>,
  scheduler: Parameters<typeof gate>[0]['scheduler'],
  [initialMs, maxMs]: readonly [number, number],
): { readonly watched$: Observable<string>; readonly gated: MonoTypeOperatorFunction<string> } => {
  let isOpen = false;
  return {
    watched$: door$.pipe(tap((door) => (isOpen = door === 'o'))),
    gated: gate<string, string>({
      isOpen$: defer(() => of(isOpen)),
      keyOf: (value) => value.toLowerCase(),
      fold: (held, value) => (held === held.toUpperCase() ? held : value),
      initialMs,
      maxMs,
      scheduler,
    }),
  };
};

describe('gate', () => {
  it(
    'lets values through while it is open',
    marbles(({ hot, expectObservable, scheduler }) => {
      const door = hot('    o----------');
      const value$ = hot('  -a-(bc)-a-|');
      const expected = '    -a-(bc)-a-|';
      const { watched$, gated } = byKey(door, scheduler, [2, 8]);
      expectObservable(watched$).toBe('o----------');
      expectObservable(value$.pipe(gated)).toBe(expected);
    }),
  );

  it(
    'holds one value per key while it is closed, in the order of the keys, and folds newer ones into it',
    marbles(({ hot, expectObservable, scheduler }) => {
      // Asked at 1, 3 and 7.
      const door = hot('    x----o-------');
      const value$ = hot('  -aB-ab-----c|');
      const expected = '    -------(aB)c|';
      const { watched$, gated } = byKey(door, scheduler, [2, 8]);
      expectObservable(watched$).toBe('x----o');
      expectObservable(value$.pipe(gated)).toBe(expected);
    }),
  );

  it(
    'asks again after a wait that doubles up to the limit, and starts over after it was open',
    marbles(({ hot, expectObservable, scheduler }) => {
      // Asked at 0, 1, 3, 7, 11; then at 14, 15.
      const door = hot('    x-------o----x-o---');
      const value$ = hot('  a-------------b-----');
      const expected = '    -----------a---b----';
      const unsub = '       -------------------!';
      const { watched$, gated } = byKey(door, scheduler, [1, 4]);
      expectObservable(watched$).toBe('x-------o----x-o');
      expectObservable(value$.pipe(gated), unsub).toBe(expected);
    }),
  );

  it(
    'keeps what it holds until it was open, even when the source has ended',
    marbles(({ hot, expectObservable, scheduler }) => {
      const door = hot('    x---o---');
      const value$ = hot('  a-|     ');
      const expected = '    ------(a|)';
      const { watched$, gated } = byKey(door, scheduler, [2, 8]);
      expectObservable(watched$).toBe('x---o');
      expectObservable(value$.pipe(gated)).toBe(expected);
    }),
  );

  it(
    'checks no more after an unsubscription',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const door = hot('    x-----');
      const value$ = cold(' a-----');
      const unsub = '       ---!  ';
      const { watched$, gated } = byKey(door, scheduler, [2, 8]);
      expectObservable(watched$).toBe('x');
      expectObservable(value$.pipe(gated), unsub).toBe('------');
      expectSubscriptions(value$.subscriptions).toBe('^--!');
    }),
  );

  it(
    'asks at once when it is nudged',
    marbles(({ hot, expectObservable, scheduler }) => {
      const door = hot('    x-o--');
      const value$ = hot('  a----');
      const nudge$ = hot('  -x-x-');
      const expected = '    ---a-';
      let isOpen = false;
      expectObservable(door.pipe(tap((said) => (isOpen = said === 'o')))).toBe('x-o--');
      const gated$ = value$.pipe(
        gate({
          isOpen$: defer(() => of(isOpen)),
          keyOf: (value) => value,
          fold: (_, value) => value,
          initialMs: 100,
          maxMs: 5_000,
          nudge$,
          scheduler,
        }),
      );
      expectObservable(gated$, '-----!').toBe(expected);
    }),
  );

  it(
    'holds what arrives until it knows whether it is open',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const isOpen$ = cold<boolean>('--o-x', { o: true, x: false });
      const value$ = hot('  -a-b----a');
      const expected = '    ---(ab)---a';
      const unsub = '       ------------!';
      const options = { keyOf: (value: string) => value, fold: (_: string, value: string) => value };
      const gated$ = value$.pipe(gate({ isOpen$, ...options, initialMs: 2, maxMs: 8, scheduler }));
      expectObservable(gated$, unsub).toBe(expected);
      expectSubscriptions(isOpen$.subscriptions).toBe(['-^-!', '--------^-!']);
    }),
  );
});
