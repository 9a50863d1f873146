import { defer, EMPTY, from, mergeMap, type ObservableInput, of, type OperatorFunction, repeat } from 'rxjs';

/**
 * One run at a time per key, keys side by side. A value that comes while its key runs waits for the end of that run; a newer
 * one takes its place. An idle key costs nothing.
 *
 * Errors: an error of `project` ends the result; recover inside `project`.
 * Ends:   with the source, after the last run of every key.
 */
export const conflateByKey =
  <T, K, R>(keyOf: (value: T) => K, project: (value: T) => ObservableInput<R>): OperatorFunction<T, R> =>
  (source) =>
    defer(() => {
      const busy = new Map<K, { next: { readonly value: T } | undefined }>();
      return source.pipe(
        mergeMap((value) => {
          const key = keyOf(value);
          const running = busy.get(key);
          if (running) {
            running.next = { value };
            return EMPTY;
          }
          const slot: { next: { readonly value: T } | undefined } = { next: { value } };
          busy.set(key, slot);
          // Looking for a value and turning idle are one step: a value that comes later starts a run of its own.
          const hasNext = () => slot.next !== undefined || (busy.delete(key), false);
          return defer(() => {
            const next = slot.next;
            slot.next = undefined;
            return next ? from(project(next.value)) : EMPTY;
          }).pipe(repeat({ delay: () => (hasNext() ? of(true) : EMPTY) }));
        }),
      );
    });
