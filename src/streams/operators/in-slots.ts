import {
  asyncScheduler,
  EMPTY,
  endWith,
  ignoreElements,
  merge,
  mergeMap,
  type MonoTypeOperatorFunction,
  Observable,
  type SchedulerLike,
  takeWhile,
  tap,
  timer,
} from 'rxjs';

export interface Slots {
  /** How many subscriptions run side by side. */
  readonly count: number;
  /** After so long a subscription goes on, but somebody else gets its slot. Milliseconds; without end unless given. */
  readonly longestMs?: number;
  readonly scheduler?: SchedulerLike;
}

/**
 * Makes an operator whose subscriptions share `count` slots, whatever the sources: each waits for a free slot, in order of
 * arrival, before it subscribes to its source. One that hangs keeps its slot for `longestMs` and no longer, where that is given, so
 * that it cannot hold the others up for good.
 *
 * Errors: those of the source.
 * Ends:   with the source; the slot is free then, or upon unsubscription.
 */
export const inSlots = ({
  count,
  longestMs,
  scheduler = asyncScheduler,
}: Slots): (<T>() => MonoTypeOperatorFunction<T>) => {
  const waiting = new Set<() => void>();
  let taken = 0;
  let isHandingOn = false;

  /** Flat, however many of those that get a slot end at once. */
  const handOn = (): void => {
    if (isHandingOn) return;
    isHandingOn = true;
    for (const take of waiting) {
      if (taken >= count) break;
      waiting.delete(take);
      take();
    }
    isHandingOn = false;
  };

  /** Emits once there is a slot, with what gives it back. Does not end: whoever unsubscribes gives it back. */
  const slot$ = new Observable<() => void>((subscriber) => {
    let isHeld = false;
    const giveBack = (): void => {
      if (!isHeld) return;
      isHeld = false;
      taken -= 1;
      handOn();
    };
    const take = (): void => {
      isHeld = true;
      taken += 1;
      subscriber.next(giveBack);
    };
    waiting.add(take);
    handOn();
    return () => {
      waiting.delete(take);
      giveBack();
    };
  });

  return <T>() =>
    (source: Observable<T>) =>
      slot$.pipe(
        mergeMap((giveBack) =>
          merge(
            longestMs === undefined ? EMPTY : timer(longestMs, scheduler).pipe(tap(giveBack), ignoreElements()),
            source.pipe(endWith<T | typeof END>(END)),
          ),
        ),
        takeWhile((value): value is T => value !== END),
      );
};

const END = Symbol('end');
