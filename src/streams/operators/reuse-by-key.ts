import { defer, last, type MonoTypeOperatorFunction, type Observable, of, type SchedulerLike, share, tap } from 'rxjs';

export interface KeptAnswers<T> {
  /** The time for which an answer is kept after its arrival, in milliseconds. */
  readonly lifetimeMs: (value: T) => number;
  /** The most answers that are kept; those unused for the longest time go first. */
  readonly most: number;
  readonly scheduler: SchedulerLike;
}

/**
 * Makes an operator that keeps the last value of the source under a key, and emits it to each subscriber with the same key until its
 * lifetime is over. Subscribers that arrive before the answer wait for it together. No timer runs.
 *
 * Errors: those of the source, to all that wait; a failed answer is not kept.
 * Ends:   after the value.
 */
export const reuseByKey = <T>({
  lifetimeMs,
  most,
  scheduler,
}: KeptAnswers<T>): ((key: string) => MonoTypeOperatorFunction<T>) => {
  /** In the order of their last use. */
  const kept = new Map<string, { readonly value: T; readonly until: number }>();
  const underWay = new Map<string, Observable<T>>();

  const keep = (key: string, value: T): void => {
    kept.set(key, { value, until: scheduler.now() + lifetimeMs(value) });
    if (kept.size <= most) return;
    const [oldest] = kept.keys();
    if (oldest !== undefined) kept.delete(oldest);
  };

  return (key) => (source) =>
    defer(() => {
      const answer = kept.get(key);
      kept.delete(key);
      if (answer && scheduler.now() < answer.until) {
        kept.set(key, answer);
        return of(answer.value);
      }
      const asked$ =
        underWay.get(key) ??
        source.pipe(
          last(),
          // Runs before the value is emitted, since a subscriber may subscribe again on it.
          tap({
            next: (value) => {
              underWay.delete(key);
              keep(key, value);
            },
            error: () => underWay.delete(key),
            unsubscribe: () => underWay.delete(key),
          }),
          share(),
        );
      underWay.set(key, asked$);
      return asked$;
    });
};
