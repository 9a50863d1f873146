import {
  defer,
  from,
  mergeAll,
  type MonoTypeOperatorFunction,
  type Observable,
  type SchedulerLike,
  share,
  tap,
  toArray,
} from 'rxjs';

interface Answer<T> {
  readonly value$: Observable<T>;
  kept?: { readonly values: readonly T[]; readonly at: number };
}

/**
 * What the source has emitted by its end is given to whoever subscribes within `lifetimeMs` after that; then the source is
 * asked anew. Subscribers that come while it is being asked wait for that answer. Nothing is asked ahead of time, and no
 * timer runs.
 *
 * Errors: those of the source; an answer that failed is not kept.
 * Ends:   after the last value.
 */
export const reuseFor =
  <T>(lifetimeMs: number, scheduler: SchedulerLike): MonoTypeOperatorFunction<T> =>
  (source) => {
    let answer: Answer<T> | undefined;
    const ask = (): Answer<T> => {
      const asked: Answer<T> = {
        value$: source.pipe(
          toArray(),
          // Before anybody hears of it, since a subscriber may leave with the first value.
          tap({
            next: (values) => (asked.kept = { values, at: scheduler.now() }),
            error: () => (answer = undefined),
          }),
          share(),
          mergeAll(),
        ),
      };
      return asked;
    };
    return defer(() => {
      const kept = answer?.kept;
      if (kept && scheduler.now() - kept.at < lifetimeMs) return from(kept.values);
      if (!answer || kept) answer = ask();
      return answer.value$;
    });
  };
