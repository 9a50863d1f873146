import { asyncScheduler, type MonoTypeOperatorFunction, Observable, type SchedulerLike, Subscription } from 'rxjs';
import { LimitClimb } from './limit-climb.js';
import { UsualTime } from './usual-time.js';

export interface LimitedCall {
  /** Calls of one kind take about equally long under equal load. */
  readonly kind: string;
  /** Of those that wait, the highest goes first; 0 unless given. */
  readonly rank?: number;
}

/** Begins a call when it is its turn. */
export type AdaptiveLimit = <T>(call: LimitedCall) => MonoTypeOperatorFunction<T>;

export interface AdaptiveLimitOptions {
  /** Hears of every change: how many calls may be under way, how many hold a slot, and how many wait. */
  readonly observe?: (state: { readonly limit: number; readonly held: number; readonly waiting: number }) => void;
  readonly scheduler?: SchedulerLike;
}

/** So often the turn is that of whoever waits longest, whatever its rank. */
const OLDEST_EVERY = 4;

interface Waiting {
  readonly rank: number;
  readonly begin: () => void;
}

/**
 * One limit for all calls that share what it returns: so many are under way at a time as get most of them done, which it
 * learns from how long they take and keeps learning, see `LimitClimb`. Who waits goes by rank, then in order; every fourth turn
 * is that of whoever waits longest, so that no rank starves another.
 *
 * A call that takes far longer than its kind usually does goes on, but its slot is given to the next one: a call that hangs
 * holds up nobody. So there may be more calls under way than the limit by the number of those. Only what completes is learned
 * from: a call that fails may do so at once or after any time.
 *
 * Errors: those of the source.
 * Ends:   with the source. Unsubscribing gives up the place in the queue, or the slot.
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

  /** A call may end as soon as it begins, and then comes back here. */
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
            // With a slot free, a call says nothing about what the limit does.
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
        // Not earlier: what follows from the answer of a call gets in line before its slot is free.
        return () => {
          const index = waiting.indexOf(place);
          if (index >= 0) waiting.splice(index, 1);
          work.unsubscribe();
          release();
        };
      });
};
