import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  endWith,
  finalize,
  ignoreElements,
  merge,
  type Observable,
  of,
  retry,
  type SchedulerLike,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { Pod } from '../../model/pod/pod.js';
import { type ShutdownGroup, shutdownSeconds } from '../../model/shutdown/shutdown-groups.js';
import type { ShutdownState } from '../../model/shutdown/shutdown-state.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { ShutdownInhibitor, ShutdownSignal } from '../ports/shutdown-inhibitor.js';
import type { ShutdownStates } from '../ports/shutdown-states.js';
import type { WallClock } from '../ports/wall-clock.js';
import { ensureMaxDelay, type HeldLock, heldLock } from './inhibit-shutdown.js';

/** The time from a loss of the service to the next attempt, in milliseconds. Source: nodeshutdown_manager_linux.go dbusReconnectPeriod */
export const INHIBITOR_RETRY_MS = 1_000;

export interface ShutdownManagerOptions {
  readonly inhibitor: ShutdownInhibitor;
  /** Lowest priority first, at least one. */
  readonly groups: readonly ShutdownGroup[];
  /** The pods that have not ended. */
  readonly activePods: () => readonly Pod[];
  /** Stops them, group by group, and completes. Errors: none. */
  readonly stopPods$: Observable<never>;
  readonly states: ShutdownStates;
  readonly metrics: Pick<Metrics, 'nodeShutdown'>;
  readonly recordEvent: RecordEvent;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  /** For the times of a shutdown in its file and its metrics. */
  readonly wallClock: WallClock;
}

/**
 * Stops the pods of the node when the machine shuts down, which waits for it. Emits true when a shutdown begins, before the first pod
 * is stopped, and false when it is cancelled: whether the node shuts down. The signals are handled one after the other, so
 * a cancellation is noticed when all groups are stopped. An unsubscription releases the lock.
 *
 * After a loss of the service, or of the lock, all begins again a second later, for ever. Where the first attempt fails, no shutdown is
 * ever noticed.
 *
 * Errors: none; failures are logged.
 * Ends:   only after a first attempt that has failed.
 * Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go Start
 */
export const shutdownManager = (options: ShutdownManagerOptions): Observable<boolean> =>
  defer(() => {
    const { inhibitor, log, scheduler } = options;
    const lock = heldLock(inhibitor);
    let hasStarted = false;
    let problem: string | undefined;
    const started = (): void => {
      if (problem !== undefined) log.info({}, 'the shutdown of the machine is watched again');
      hasStarted = true;
      problem = undefined;
    };
    const watched$ = watchedSignals(options, { lock, started }).pipe(
      retry({
        delay: (failure: unknown) => {
          const error = errorText(failure);
          if (!hasStarted) {
            log.error(
              { error },
              'the shutdown of the machine is not watched, so the pods will not be stopped before it',
            );
            return EMPTY;
          }
          // Not each second, but each new reason.
          if (error !== problem)
            log.warn({ error }, 'the watch of the shutdown of the machine is lost, and begins again');
          problem = error;
          return timer(INHIBITOR_RETRY_MS, scheduler);
        },
      }),
      finalize(lock.release),
    );
    return merge(knownState(options), watched$);
  });

/** Shows the newest shutdown of an earlier agent in the metrics. Emits nothing. */
const knownState = ({ states, metrics, log }: ShutdownManagerOptions): Observable<never> =>
  defer(() => states.read()).pipe(
    tap((state) => metrics.nodeShutdown(state)),
    ignoreElements(),
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'cannot read the newest shutdown of the node');
      return EMPTY;
    }),
  );

interface Watch {
  readonly lock: HeldLock;
  /** Called when signals are received and the lock is held. */
  readonly started: () => void;
}

/**
 * Prepares the service, and handles its signals in order, the end of the watch too: a group of pods is stopped to its end while the
 * bus is lost. The watch begins before the lock is taken, so that no signal comes between them unnoticed.
 *
 * Errors: the service is not available, or not any more.
 */
const watchedSignals = (options: ShutdownManagerOptions, { lock, started }: Watch): Observable<boolean> =>
  defer(() => {
    const { inhibitor, groups, scheduler } = options;
    const signal$ = inhibitor.watch().pipe(
      endWith({ lost: new Error('the watch of the shutdown has ended') }),
      catchError((lost: unknown) => of({ lost })),
    );
    const handle = (signal: ShutdownSignal | { readonly lost: unknown }): Observable<boolean> => {
      switch (signal) {
        case 'watching':
          return lock.take$.pipe(tap({ complete: started }));
        case 'shutdown':
          return shutDown(options, lock);
        case 'cancelled':
          return cancelled(options, lock);
        default:
          return throwError(() => signal.lost);
      }
    };
    const seconds = shutdownSeconds(groups);
    return concat(ensureMaxDelay(inhibitor, { seconds, scheduler }), signal$.pipe(concatMap(handle)));
  });

const shutDown = (options: ShutdownManagerOptions, lock: HeldLock): Observable<boolean> =>
  defer(() => {
    const { activePods, stopPods$, recordEvent, log, wallClock } = options;
    log.info({ pods: activePods().length }, 'the machine shuts down: the pods are stopped');
    recordEvent({
      type: 'Normal',
      reason: 'Shutdown',
      message: 'Shutdown manager detected shutdown event',
      causes: [],
    });
    const startedAt = wallClock();
    const end$ = defer(() => keepState({ startedAt, endedAt: wallClock() }, options));
    const release$ = defer(() => {
      lock.release();
      log.info({}, 'the pods are stopped, and the machine may shut down');
      return EMPTY;
    });
    // The disk may be slow, and no pod waits for it.
    return concat(of(true), merge(keepState({ startedAt }, options), stopPods$), end$, release$);
  });

/** Without a lock the next shutdown would not wait, so an error begins the watch again. */
const cancelled = ({ recordEvent, log }: ShutdownManagerOptions, lock: HeldLock): Observable<boolean> =>
  defer(() => {
    log.info({}, 'the machine does not shut down after all');
    const message = 'Shutdown manager detected shutdown cancellation';
    recordEvent({ type: 'Normal', reason: 'Shutdown', message, causes: [] });
    return concat(of(false), lock.take$);
  });

/** Shows a state in the metrics and writes it. Errors: none. */
const keepState = (state: ShutdownState, { states, metrics, log }: ShutdownManagerOptions): Observable<never> =>
  defer(() => {
    metrics.nodeShutdown(state);
    return states.write(state);
  }).pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'cannot write the newest shutdown of the node');
      return EMPTY;
    }),
  );
