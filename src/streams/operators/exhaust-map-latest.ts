import {
  defer,
  EMPTY,
  exhaustMap,
  finalize,
  from,
  groupBy,
  mergeMap,
  type ObservableInput,
  type OperatorFunction,
  Subject,
  tap,
} from 'rxjs';
import { repeatWhile } from './repeat-while.js';

/** Starts a run for `value`. `signal` fires when the run should stop early. */
export type Project<T, R> = (value: T, signal: AbortSignal) => ObservableInput<R>;
/** Whether `incoming` asks the run of `running` to stop early. */
export type Preempts<T> = (incoming: T, running: T) => boolean;

/**
 * Like `exhaustMap`, but the newest value that arrives during a run is delivered when that run ends.
 * `preempts(incoming, running)` asks the run to stop early by firing its `signal`; the next run still waits
 * until this one has ended, so two runs never overlap.
 *
 * Errors: an error of `project` ends the result; recover inside `project`.
 * Ends:   with the source, after the last delivery. Unsubscribing fires the current signal.
 * Source: `pendingUpdate` and `cancelFn` in pkg/kubelet/pod_workers.go.
 */
export const exhaustMapLatest = <T, R>(
  project: Project<T, R>,
  preempts: Preempts<T> = () => false,
): OperatorFunction<T, R> => lane(project, preempts, () => undefined);

/**
 * `groupBy(keyOf)` with one `exhaustMapLatest` per key, side by side. A group ends when its run ends and no value waits;
 * the next value of that key opens a new group, so an idle key costs nothing.
 *
 * Errors: an error of `project` ends the result; recover inside `project`.
 * Ends:   with the source, after the last delivery of every key. Unsubscribing fires the signal of every run.
 */
export const exhaustMapLatestBy =
  <T, K, R>(
    keyOf: (value: T) => K,
    project: Project<T, R>,
    preempts: Preempts<T> = () => false,
  ): OperatorFunction<T, R> =>
  (source) =>
    defer(() => {
      const idle = new Map<K, Subject<void>>();
      const untilIdle = ({ key }: { readonly key: K }) => {
        const idle$ = new Subject<void>();
        idle.set(key, idle$);
        return idle$.pipe(finalize(() => idle.delete(key)));
      };
      return source.pipe(
        groupBy(keyOf, { duration: untilIdle }),
        mergeMap((value$) => value$.pipe(lane(project, preempts, () => idle.get(value$.key)?.next()))),
      );
    });

/** One run at a time and one slot for the newest value. `onIdle` is called when a run has ended and the slot is empty. */
const lane =
  <T, R>(project: Project<T, R>, preempts: Preempts<T>, onIdle: () => void): OperatorFunction<T, R> =>
  (source) =>
    defer(() => {
      let undelivered: { readonly value: T } | undefined;
      let running: { readonly value: T; readonly abort: AbortController } | undefined;
      const run$ = defer(() => {
        if (!undelivered) return EMPTY;
        const { value } = undelivered;
        const abort = new AbortController();
        undelivered = undefined;
        running = { value, abort };
        return from(project(value, abort.signal)).pipe(tap({ unsubscribe: () => abort.abort() }));
      });
      const delivery$ = defer(() => {
        let ended = false;
        return run$.pipe(
          repeatWhile(() => undelivered !== undefined),
          tap({
            complete: () => {
              ended = true;
              running = undefined;
            },
          }),
          // The teardown of the last run may bring one more value: then the next delivery is under way and the lane is not idle.
          finalize(() => {
            if (ended && running === undefined && !undelivered) onIdle();
          }),
        );
      });
      return source.pipe(
        tap((value) => {
          undelivered = { value };
          if (running && preempts(value, running.value)) running.abort.abort();
        }),
        exhaustMap(() => delivery$),
      );
    });
