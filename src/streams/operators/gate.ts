import {
  asyncScheduler,
  concatMap,
  defer,
  exhaustMap,
  from,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  type SchedulerLike,
  take,
  takeUntil,
  tap,
  timer,
  ignoreElements,
} from 'rxjs';
import { type Backoff, nextDelay } from '../../model/values/back-off.js';
import { repeatWhile } from './repeat-while.js';

export interface GateOptions<T, K> extends Pick<Backoff, 'initialMs' | 'maxMs'> {
  /** Subscribed when a value arrives, and again after each wait: its first value says whether the gate is open now. */
  readonly isOpen$: Observable<boolean>;
  /** One value is held per key. */
  readonly keyOf: (value: T) => K;
  /** Returns the value that is held of two values of one key; the second is the newer one. */
  readonly fold: (held: T, value: T) => T;
  /** Ends a wait early: `isOpen$` is subscribed again at once. */
  readonly nudge$?: Observable<unknown>;
  readonly scheduler?: SchedulerLike;
}

/**
 * Passes values while the gate is open. While it is closed, one value per key is held. Once a check finds the gate open, the held values
 * are emitted in the order in which their keys arrived. The waits between checks double from `initialMs` to `maxMs`.
 *
 * Errors: those of `isOpen$`.
 * Ends:   with the source, after the held values.
 */
export const gate =
  <T, K>({
    isOpen$,
    keyOf,
    fold,
    initialMs,
    maxMs,
    nudge$ = NEVER,
    scheduler = asyncScheduler,
  }: GateOptions<T, K>): MonoTypeOperatorFunction<T> =>
  (source) =>
    defer(() => {
      const held = new Map<K, T>();
      let checks = 0;
      const drain$ = isOpen$.pipe(
        take(1),
        concatMap((isOpen) => {
          if (isOpen) {
            const values = [...held.values()];
            held.clear();
            checks = 0;
            return from(values);
          }
          checks += 1;
          return timer(nextDelay({ initialMs, maxMs }, checks), scheduler).pipe(ignoreElements(), takeUntil(nudge$));
        }),
        repeatWhile(() => held.size > 0),
      );
      return source.pipe(
        tap((value) => {
          const key = keyOf(value);
          const before = held.get(key);
          held.set(key, before === undefined ? value : fold(before, value));
        }),
        exhaustMap(() => drain$),
      );
    });
