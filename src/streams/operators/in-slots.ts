import {
  asyncScheduler,
  defer,
  EMPTY,
  finalize,
  mergeMap,
  type MonoTypeOperatorFunction,
  Observable,
  type SchedulerLike,
  tap,
  timer,
} from 'rxjs';
import { alongside } from './alongside.js';

export interface Slots {
  /** The number of subscriptions that run side by side. */
  readonly count: number;
  /**
   * The longest time that a subscription keeps its slot, in milliseconds. It goes on afterwards, and the slot is free for another
   * one. Default: no such time.
   */
  readonly longestMs?: number;
  readonly scheduler?: SchedulerLike;
}

/**
 * Makes an operator whose subscriptions share `count` slots, for any sources: each waits for a free slot, in order of arrival,
 * before it subscribes to its source. `longestMs` bounds the time for which a source that hangs delays the others.
 *
 * Errors: those of the source.
 * Ends:   with the source; the end or an unsubscription frees the slot.
 */
export const inSlots = ({
  count,
  longestMs,
  scheduler = asyncScheduler,
}: Slots): (<T>() => MonoTypeOperatorFunction<T>) => {
  const waiting = new Set<() => void>();
  let taken = 0;
  let isServing = false;

  /** A loop without recursion, for any number of subscriptions that end as soon as they begin. */
  const serve = (): void => {
    if (isServing) return;
    isServing = true;
    for (const begin of waiting) {
      if (taken >= count) break;
      waiting.delete(begin);
      begin();
    }
    isServing = false;
  };

  return <T>() =>
    (source: Observable<T>) =>
      defer(() => {
        let isHeld = false;
        const free = (): void => {
          if (!isHeld) return;
          isHeld = false;
          taken -= 1;
          serve();
        };
        /** Emits once, when a slot is free, and takes the slot. */
        const turn$ = new Observable<void>((subscriber) => {
          const begin = (): void => {
            isHeld = true;
            taken += 1;
            subscriber.next();
            subscriber.complete();
          };
          waiting.add(begin);
          serve();
          return () => waiting.delete(begin);
        });
        const limit$ = longestMs === undefined ? EMPTY : timer(longestMs, scheduler).pipe(tap(free));
        return turn$.pipe(
          mergeMap(() => source.pipe(alongside(limit$))),
          finalize(free),
        );
      });
};
