import { concatMap, defer, filter, finalize, from, type ObservableInput, type OperatorFunction } from 'rxjs';

export interface WaitingLine<T> {
  /** How many values may wait while another one is being worked on. */
  readonly limit: number;
  /** Hears of each value that found the line full. */
  readonly onDrop: (value: T) => void;
}

/**
 * Like `concatMap`, but only so many values wait for their turn; what comes while the line is full is dropped.
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
