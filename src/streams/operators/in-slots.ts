import {
  asyncScheduler,
  EMPTY,
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

/** One free slot in four goes to the oldest waiting subscription, of any rank. */
const OLDEST_EVERY = 4;

interface Waiting {
  readonly rank: number;
  readonly begin: () => void;
}

/**
 * Makes an operator whose subscriptions share `count` slots, for any sources. A subscription waits for a free slot, and then
 * subscribes to its source. A free slot goes to the waiting subscription with the highest `rank` (default 0); within a rank, to
 * the oldest one. Every fourth free slot goes to the oldest one of all ranks, so that a low rank does not wait forever.
 * `longestMs` bounds the time for which a source that hangs delays the others.
 *
 * Errors: those of the source.
 * Ends:   with the source. The slot is free after that, and after an unsubscription has cancelled the source.
 */
export const inSlots = ({
  count,
  longestMs,
  scheduler = asyncScheduler,
}: Slots): (<T>(rank?: number) => MonoTypeOperatorFunction<T>) => {
  /** In order of arrival. */
  const waiting = new Set<Waiting>();
  let taken = 0;
  let turns = 0;
  let isServing = false;

  const takeNext = (): Waiting | undefined => {
    turns += 1;
    let next: Waiting | undefined;
    for (const one of waiting) {
      if (!next || one.rank > next.rank) next = one;
      if (turns % OLDEST_EVERY === 0) break;
    }
    if (next) waiting.delete(next);
    return next;
  };

  /** A loop without recursion, for any number of subscriptions that end as soon as they begin. */
  const serve = (): void => {
    if (isServing) return;
    isServing = true;
    while (waiting.size > 0 && taken < count) takeNext()?.begin();
    isServing = false;
  };

  return <T>(rank = 0) =>
    (waiter$: Observable<T>) =>
      new Observable<T>((subscriber) => {
        let isHeld = false;
        const free = (): void => {
          if (!isHeld) return;
          isHeld = false;
          taken -= 1;
          serve();
        };
        /** Emits once, when a slot is free, and takes the slot. */
        const turn$ = new Observable<void>((turn) => {
          const begin = (): void => {
            isHeld = true;
            taken += 1;
            turn.next();
            turn.complete();
            // `waiter$` has been subscribed to, so that an unsubscription cancels it first, also when it had to wait.
            subscriber.add(free);
          };
          const place: Waiting = { rank, begin };
          waiting.add(place);
          serve();
          return () => waiting.delete(place);
        });
        const limit$ = longestMs === undefined ? EMPTY : timer(longestMs, scheduler).pipe(tap(free));
        const source = turn$.pipe(mergeMap(() => waiter$.pipe(alongside(limit$))));
        return source.subscribe(subscriber);
      });
};
