import {
  defer,
  EMPTY,
  expand,
  filter,
  first,
  groupBy,
  ignoreElements,
  interval,
  merge,
  mergeMap,
  scan,
  skip,
  startWith,
  switchMap,
  take,
  takeUntil,
  tap,
  throwError,
  timeout,
  timer,
  toArray,
  type Observable,
  type OperatorFunction,
  type SchedulerLike,
} from 'rxjs';

/** The time that a client has for opening the streams of a command, and for both streams of a forwarded connection. */
export const STREAMS_MS = 30_000;
/** The time without any traffic after which a session ends. */
export const IDLE_MS = 4 * 60 * 60 * 1_000;
/** The period of writes to a client that is not read, since only a write can notice that it has gone. */
export const PROBE_MS = 5_000;
/** The time without output after which a command that has ended is not waited for: a daemon may hold its output open. */
export const DRAIN_MS = 1_000;
/** The time that a client has for closing a session that is over. */
export const CLOSE_MS = 10_000;

/**
 * Emits the first `count` streams together. Errors: the client did not open them in time.
 * Source: k8s.io/kubelet/pkg/cri/streaming/remotecommand/httpstream.go
 */
export const expectedStreams =
  <Stream>(count: number, scheduler: SchedulerLike): OperatorFunction<Stream, readonly Stream[]> =>
  (source) =>
    source.pipe(
      take(count),
      toArray(),
      timeout({
        first: STREAMS_MS,
        scheduler,
        with: () => throwError(() => new Error('timed out waiting for client to create streams')),
      }),
    );

/**
 * Emits the streams of one key together: both as soon as the second is there, or a single one after half a minute.
 * Source: k8s.io/kubelet/pkg/cri/streaming/portforward/httpstream.go monitorStreamPair
 */
export const pairedStreams =
  <Stream>(keyOf: (stream: Stream) => string, scheduler: SchedulerLike): OperatorFunction<Stream, readonly Stream[]> =>
  (source) =>
    source.pipe(
      groupBy(keyOf, { duration: (stream$) => merge(stream$.pipe(skip(1)), timer(STREAMS_MS, scheduler)) }),
      mergeMap((stream$) => stream$.pipe(toArray())),
    );

/**
 * Emits once when there was no output for `DRAIN_MS`. Time in which output waits for the client does not count, and
 * neither does the rest of a period in which it stopped waiting.
 */
export const untilQuiet = (
  output$: Observable<unknown>,
  isBlocked: () => boolean,
  scheduler: SchedulerLike,
): Observable<unknown> =>
  output$.pipe(
    startWith(undefined),
    switchMap(() => interval(DRAIN_MS / 2, scheduler).pipe(scan((periods) => (isBlocked() ? 0 : periods + 1), 0))),
    first((periods) => periods >= 2),
  );

/** Completes when there was no activity for `idleMs`; `lastMs` is the time of the last one. */
export const untilIdle = (lastMs: () => number, idleMs: number, scheduler: SchedulerLike): Observable<never> =>
  defer(() => timer(Math.max(lastMs() + idleMs - scheduler.now(), 0), scheduler)).pipe(
    expand(() => {
      const leftMs = lastMs() + idleMs - scheduler.now();
      return leftMs > 0 ? timer(leftMs, scheduler) : EMPTY;
    }),
    ignoreElements(),
  );

/** Calls `probe` regularly while the client is not read. */
export const probePaused = (
  isPaused: () => boolean,
  probe: () => void,
  scheduler: SchedulerLike,
): Observable<unknown> => interval(PROBE_MS, scheduler).pipe(filter(isPaused), tap(probe));

/** Calls `close` when the session is still open after `CLOSE_MS`. */
export const closeLater = (
  gone$: Observable<unknown>,
  close: () => void,
  scheduler: SchedulerLike,
): Observable<unknown> => timer(CLOSE_MS, scheduler).pipe(tap(close), takeUntil(gone$));
