import { catchError, concat, concatMap, defer, EMPTY, map, type Observable, of, repeat, timer } from 'rxjs';
import { ApiError } from '../../model/kube-api/api-error.js';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import { foldFailure, NO_FAILURES } from '../../model/kube-api/failure-streak.js';
import { nextWait, startBackOff } from '../../model/reflector/reflector-back-off.js';
import type { ReflectorEvent, ReflectorProblem } from '../../model/reflector/reflector-event.js';
import { startPosition } from '../../model/reflector/reflector-position.js';
import type { AfterWatch } from '../../model/reflector/watch-end.js';
import { errorText } from '../../model/cri/cri-error.js';
import { every } from '../operators/every.js';
import type { Logger } from '../ports/logger.js';
import { listOnce, type ListWatchPorts, type ListWatchProgress, watchOnce } from './list-watch.js';

export interface ReflectorPorts extends ListWatchPorts {
  readonly log: Logger;
}

export interface ReflectorOptions {
  /** The path of the collection, such as `/api/v1/pods`. */
  readonly path: string;
  /** Such as `spec.nodeName=node-1`. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** The name of the objects in the log: `pods`. */
  readonly name: string;
  /**
   * A resource version that an earlier run has seen. Older lists are not accepted, unless the server has lost that version. Without it
   * the first list may be as old as the cache of the server.
   */
  readonly notOlderThan?: string;
  /** A watch lasts one to two times as long and then starts again. Default: 300. */
  readonly minWatchSeconds?: number;
  /** Failures of a list by which the caller finds out what the server can do: their level is debug. Default: none. */
  readonly isExpected?: (error: unknown) => boolean;
}

/** The longest Retry-After that is obeyed. */
export const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Watches the objects of a collection: lists them, watches their changes, and recovers from failures of the connection and the server.
 * The events are complete and in order: an object of a list or of a later event is current until the next event about it or the next list.
 * No version is emitted twice, and none is older than an emitted one, unless the server itself has gone back.
 *
 * Each failure is emitted as a problem and logged; a repetition of the same failure before a success has the level debug.
 *
 * Errors: none; failures are values of the kind `problem`.
 * Ends:   never.
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go, without lists that are streamed
 */
export const reflector = <T extends ApiObject>(
  ports: ReflectorPorts,
  { path, fieldSelector, labelSelector, name, notOlderThan, minWatchSeconds, isExpected }: ReflectorOptions,
): Observable<ReflectorEvent<T>> =>
  defer(() => {
    const { scheduler, random, log } = ports;
    const query = { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) };
    const target = { path, query, minWatchSeconds };
    const progress: ListWatchProgress = { position: startPosition(notOlderThan), silentInRow: 0, goneAt: undefined };
    let backOff = startBackOff(scheduler.now());
    let retryAfterMs = 0;
    let said = NO_FAILURES;

    const waitMs = (): number => {
      const next = nextWait(backOff, scheduler.now(), random());
      backOff = next.backOff;
      const delayMs = Math.max(next.delayMs, retryAfterMs);
      retryAfterMs = 0;
      return delayMs;
    };
    const problem = (
      step: ReflectorProblem['step'],
      { error, severity: asSuch }: Pick<ReflectorProblem, 'error' | 'severity'>,
    ): ReflectorProblem => {
      const folded = foldFailure(said, `${step} ${errorText(error)}`, asSuch);
      said = folded.said;
      if (error instanceof ApiError)
        retryAfterMs = Math.min(1_000 * (error.retryAfterSeconds ?? 0), MAX_RETRY_AFTER_MS);
      log[folded.severity === 'warning' ? 'warn' : folded.severity](
        { name, step, error: errorText(error) },
        'cannot watch objects of the API server',
      );
      return { kind: 'problem', step, error, severity: folded.severity };
    };
    const recovery = (): Observable<ReflectorEvent<T>> => {
      if (said.size === 0) return EMPTY;
      said = NO_FAILURES;
      log.info({ name }, 'objects of the API server are watched again');
      return of({ kind: 'recovered' });
    };

    const watching$ = defer(() => {
      let next: AfterWatch['next'] = 'again';
      return defer(() => watchOnce<T>(ports, target, progress)).pipe(
        concatMap((news): Observable<ReflectorEvent<T>> => {
          switch (news.kind) {
            case 'lives':
              return recovery();
            case 'event':
              return news.event.kind === 'problem'
                ? of(problem('watch', news.event))
                : concat(recovery(), of(news.event));
            case 'ended':
              next = news.after.next;
              return news.after.problem ? of(problem('watch', news.after.problem)) : EMPTY;
          }
        }),
        repeat({ delay: () => (next === 'again' ? of(true) : next === 'later' ? timer(waitMs(), scheduler) : EMPTY) }),
      );
    });

    // Only a list fails; a failure of a watch is a value and ends the watch.
    const round$ = concat(
      defer(() => listOnce<T>(ports, target, progress)).pipe(
        map((event) => (event.kind === 'problem' ? problem('list', event) : event)),
      ),
      watching$,
    ).pipe(
      catchError((error: unknown) => of(problem('list', { error, severity: isExpected?.(error) ? 'debug' : 'error' }))),
    );
    return every({ periodMs: waitMs, scheduler }, () => round$);
  });
