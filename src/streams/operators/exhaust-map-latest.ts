import {
  defer,
  EMPTY,
  exhaustMap,
  finalize,
  from,
  type ObservableInput,
  of,
  type OperatorFunction,
  repeat,
  tap,
} from 'rxjs';

/**
 * Like `exhaustMap`, but the newest value that arrives during a run is delivered when that run settles.
 * `preempts(incoming, running)` asks the run to stop early by firing its `signal`; the next run still waits
 * until this one has settled, so two runs never overlap.
 *
 * Errors: an error of `project` ends the result; recover inside `project`.
 * Ends:   with the source, after the last delivery. Unsubscribing fires the current signal.
 * Source: `pendingUpdate` and `cancelFn` in pkg/kubelet/pod_workers.go.
 */
export function exhaustMapLatest<T, R>(
  project: (value: T, signal: AbortSignal) => ObservableInput<R>,
  preempts: (incoming: T, running: T) => boolean = () => false,
): OperatorFunction<T, R> {
  return (source) =>
    defer(() => {
      let undelivered: { readonly value: T } | undefined;
      let running: { readonly value: T; readonly abort: AbortController } | undefined;
      const deliver$ = defer(() => {
        if (!undelivered) return EMPTY;
        const { value } = undelivered;
        const abort = new AbortController();
        undelivered = undefined;
        running = { value, abort };
        return from(project(value, abort.signal)).pipe(tap({ unsubscribe: () => abort.abort() }));
      }).pipe(
        repeat({ delay: () => (undelivered ? of(true) : EMPTY) }),
        finalize(() => (running = undefined)),
      );
      return source.pipe(
        tap((value) => {
          undelivered = { value };
          if (running && preempts(value, running.value)) running.abort.abort();
        }),
        exhaustMap(() => deliver$),
      );
    });
}
