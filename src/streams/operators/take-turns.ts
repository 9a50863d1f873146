import { type MonoTypeOperatorFunction, Observable, Subscription } from 'rxjs';

/** An operator that waits for its turn with everything else that waits for the same one. */
export type TakeTurn = <T>() => MonoTypeOperatorFunction<T>;

/**
 * At most `limit` of the sources that pass through one `takeTurns` are subscribed at a time; the others wait in the order in
 * which they came. Whoever unsubscribes gives its place back, in the queue as well as while it runs.
 *
 * Memory: one small entry for each source that waits; there is no limit, since each of them has somebody who waits for it.
 */
export const takeTurns = (limit: number): TakeTurn => {
  let running = 0;
  const waiting = new Set<() => void>();
  const release = (): void => {
    running -= 1;
    const [next] = waiting;
    next?.();
  };
  return () => (source) =>
    new Observable((subscriber) => {
      const turn = new Subscription();
      const start = (): void => {
        waiting.delete(start);
        running += 1;
        // Before the source, which may end at once.
        turn.add(release);
        source.subscribe(subscriber);
      };
      turn.add(() => waiting.delete(start));
      subscriber.add(turn);
      if (running < limit) start();
      else waiting.add(start);
    });
};
