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
 * Keeps the values of the source for `lifetimeMs` after its end and emits them to each subscriber of that time. The next subscriber
 * after it subscribes to the source again. Subscribers that arrive before the end of the source wait for the same answer. No request is made ahead
 * of time, and no timer runs.
 *
 * Errors: those of the source; a failed answer is not kept.
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
          // Runs before the values are emitted, since a subscriber may unsubscribe on the first one.
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
