import { concatMap, defer, filter, finalize, from, type ObservableInput, type OperatorFunction } from 'rxjs';

export interface WaitingLine<T> {
  /** The number of values that may wait during a run. */
  readonly limit: number;
  /** Called with each value that is dropped. */
  readonly onDrop: (value: T) => void;
}

/**
 * Like `concatMap`, but at most `limit` values wait; the others are dropped.
 *
 * Errors: an error of `project` ends the result; recover inside `project`.
 * Ends:   with the source, after the last run.
 */
export const concatMapBounded =
  <T, R>(project: (value: T) => ObservableInput<R>, { limit, onDrop }: WaitingLine<T>): OperatorFunction<T, R> =>
  (source) =>
    defer(() => {
      let unfinished = 0;
      return source.pipe(
        filter((value) => {
          const isFull = unfinished > limit;
          if (isFull) onDrop(value);
          else unfinished += 1;
          return !isFull;
        }),
        concatMap((value) => defer(() => from(project(value))).pipe(finalize(() => (unfinished -= 1)))),
      );
    });
