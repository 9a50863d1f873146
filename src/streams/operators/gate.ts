import {
  asyncScheduler,
  defer,
  exhaustMap,
  from,
  type MonoTypeOperatorFunction,
  repeat,
  EMPTY,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  takeUntil,
  tap,
  timer,
  ignoreElements,
} from 'rxjs';

export interface GateOptions<T, K> {
  /** Asked when a value comes, and again after each wait. */
  readonly isOpen: () => boolean;
  /** Of the values of one key only one is held. */
  readonly keyOf: (value: T) => K;
  /** What is held of two values of one key, the newer one last. */
  readonly fold: (held: T, value: T) => T;
  /** The first wait before asking again; doubles up to `maxMs`, and starts over once the gate was open. */
  readonly initialMs: number;
  readonly maxMs: number;
  /** Ends a wait early: there is reason to ask again. */
  readonly nudge$?: Observable<unknown>;
  readonly scheduler?: SchedulerLike;
}

/**
 * Passes values while the gate is open. While it is closed one value per key is held; they come out in the order in which their
 * keys came, once the gate is found open.
 *
 * Ends: with the source, after what is held came out.
 */
export const gate =
  <T, K>({
    isOpen,
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
      let waitMs = initialMs;
      const drain$ = defer(() => {
        if (isOpen()) {
          const values = [...held.values()];
          held.clear();
          waitMs = initialMs;
          return from(values);
        }
        const delayMs = waitMs;
        waitMs = Math.min(2 * waitMs, maxMs);
        return timer(delayMs, scheduler).pipe(ignoreElements(), takeUntil(nudge$));
      }).pipe(repeat({ delay: () => (held.size > 0 ? of(true) : EMPTY) }));
      return source.pipe(
        tap((value) => {
          const key = keyOf(value);
          const before = held.get(key);
          held.set(key, before === undefined ? value : fold(before, value));
        }),
        exhaustMap(() => drain$),
      );
    });
