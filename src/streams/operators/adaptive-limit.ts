import { asyncScheduler, type MonoTypeOperatorFunction, Observable, type SchedulerLike, Subscription } from 'rxjs';
import { LimitClimb } from './limit-climb.js';
import { UsualTime } from './usual-time.js';

export interface LimitedCall {
  /** Calls of one kind take about the same time under the same load. */
  readonly kind: string;
  /** Of the waiting calls, the one of the highest rank begins first. Default: 0. */
  readonly rank?: number;
}

/** Makes an operator that subscribes to its source when the call has a slot. */
export type AdaptiveLimit = <T>(call: LimitedCall) => MonoTypeOperatorFunction<T>;

export interface AdaptiveLimitOptions {
  /** Called after every change: the limit, the number of calls that hold a slot, and the number of calls that wait. */
  readonly observe?: (state: { readonly limit: number; readonly held: number; readonly waiting: number }) => void;
  readonly scheduler?: SchedulerLike;
}

/** Every fourth call that begins is the one that waits longest, of any rank. */
const OLDEST_EVERY = 4;

interface Waiting {
  readonly rank: number;
  readonly begin: () => void;
}

/**
 * Makes one limit for all calls that are piped through the result. The limit follows the throughput: `LimitClimb` derives it from the
 * durations of completed calls. Waiting calls begin by rank, then in order of arrival; every fourth is the one that waits
 * longest, so that no rank starves another.
 *
 * A call that takes far longer than its kind usually takes goes on, but its slot is free for the next one: a call that hangs
 * delays no other. Such calls run in addition to the limit. Failed calls are not measured, since they fail after any time.
 *
 * Errors: those of the source.
 * Ends:   with the source. Unsubscribing frees the place in the queue, or the slot.
 */
export const adaptiveLimit = ({
  observe = () => undefined,
  scheduler = asyncScheduler,
}: AdaptiveLimitOptions = {}): AdaptiveLimit => {
  const climb = new LimitClimb();
  const usual = new Map<string, UsualTime>();
  const waiting: Waiting[] = [];
  let held = 0;
  let turns = 0;
  let isServing = false;

  const usualTimeOf = (kind: string): UsualTime => {
    const known = usual.get(kind) ?? new UsualTime();
    usual.set(kind, known);
    return known;
  };

  const isFull = (): boolean => held >= climb.limit || waiting.length > 0;

  const takeNext = (): Waiting | undefined => {
    turns += 1;
    if (turns % OLDEST_EVERY === 0) return waiting.shift();
    const rank = Math.max(...waiting.map((one) => one.rank));
    const [next] = waiting.splice(
      waiting.findIndex((one) => one.rank === rank),
      1,
    );
    return next;
  };

  /** A loop without recursion: a call that ends as soon as it begins calls this function again. */
  const serve = (): void => {
    if (isServing) return;
    isServing = true;
    while (waiting.length > 0 && held < climb.limit) takeNext()?.begin();
    isServing = false;
    observe({ limit: climb.limit, held, waiting: waiting.length });
  };

  return <T>({ kind, rank = 0 }: LimitedCall): MonoTypeOperatorFunction<T> =>
    (source) =>
      new Observable((subscriber) => {
        const work = new Subscription();
        let holdsSlot = false;
        const release = (): void => {
          if (!holdsSlot) return;
          holdsSlot = false;
          held -= 1;
          serve();
        };
        const begin = (): void => {
          held += 1;
          holdsSlot = true;
          const { window } = climb;
          const wasFull = isFull();
          const startedAt = scheduler.now();
          const usualTime = usualTimeOf(kind);
          work.add(scheduler.schedule(release, usualTime.patienceMs));
          const learn = (): void => {
            const ms = scheduler.now() - startedAt;
            usualTime.add(ms);
            // With a free slot the duration does not depend on the limit.
            if (wasFull && isFull()) climb.add(window, kind, ms);
          };
          work.add(
            source.subscribe({
              next: (value) => subscriber.next(value),
              error: (error: unknown) => subscriber.error(error),
              complete: () => {
                learn();
                subscriber.complete();
              },
            }),
          );
        };
        const place: Waiting = { rank, begin };
        waiting.push(place);
        serve();
        // Frees the slot last: a call that follows from the answer of this one is in the queue before the slot is free.
        return () => {
          const index = waiting.indexOf(place);
          if (index >= 0) waiting.splice(index, 1);
          work.unsubscribe();
          release();
        };
      });
};
