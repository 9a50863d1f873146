import { catchError, concat, concatMap, defer, EMPTY, map, type Observable, of, repeat, timer } from 'rxjs';
import { ApiError } from '../../model/api/api-error.js';
import type { ApiObject } from '../../model/api/api-object.js';
import { foldFailure, NO_FAILURES } from '../../model/api/failure-streak.js';
import { nextDelay, startBackOff } from '../../model/api/reflector-back-off.js';
import type { ReflectorEvent, ReflectorProblem } from '../../model/api/reflector-event.js';
import { startPosition } from '../../model/api/reflector-position.js';
import type { AfterWatch } from '../../model/api/watch-end.js';
import { errorText } from '../../model/cri-error.js';
import type { Logger } from '../ports.js';
import { listOnce, type ListWatchPorts, type ListWatchProgress, watchOnce } from './list-watch.js';

export interface ReflectorPorts extends ListWatchPorts {
  readonly log: Logger;
}

export interface ReflectorOptions {
  /** Of the collection, such as `/api/v1/pods`. */
  readonly path: string;
  /** Such as `spec.nodeName=node-1`. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** What is followed, for the log: `pods`. */
  readonly name: string;
  /**
   * A resource version that an earlier run has seen: nothing older than that is accepted, unless the server has lost it. Without it
   * the first list may be as old as the cache of the server that answers.
   */
  readonly notOlderThan?: string;
  /** A watch lasts so long to twice as long before it begins anew; 300 unless given. */
  readonly minWatchSeconds?: number;
}

/** The longest wait that a server may ask for. */
export const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Follows the objects of a collection: lists them, watches what becomes of them, and gets over whatever happens to the connection and
 * to the server. What it says of objects is complete and in order: an object of a list or of a later event stands until the next
 * event about it or the next list, no version is said twice, and none before one that was said, unless the server itself has gone back.
 *
 * Each failure is a problem, which is also logged; the same failure again, before things have worked, is told at debug level.
 *
 * Errors: none; see `problem`.
 * Ends:   never.
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go, without lists that are streamed
 */
export const reflector = <T extends ApiObject>(
  ports: ReflectorPorts,
  { path, fieldSelector, labelSelector, name, notOlderThan, minWatchSeconds }: ReflectorOptions,
): Observable<ReflectorEvent<T>> =>
  defer(() => {
    const { scheduler, random, log } = ports;
    const query = { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) };
    const target = { path, query, minWatchSeconds };
    const progress: ListWatchProgress = { position: startPosition(notOlderThan), silentInRow: 0, goneAt: undefined };
    let backOff = startBackOff(scheduler.now());
    let retryAfterMs = 0;
    let said = NO_FAILURES;

    const wait = (): Observable<unknown> => {
      const next = nextDelay(backOff, scheduler.now(), random());
      backOff = next.backOff;
      const delayMs = Math.max(next.delayMs, retryAfterMs);
      retryAfterMs = 0;
      return timer(delayMs, scheduler);
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
        'following objects of the API server has failed',
      );
      return { kind: 'problem', step, error, severity: folded.severity };
    };
    const recovery = (): Observable<ReflectorEvent<T>> => {
      if (said.size === 0) return EMPTY;
      said = NO_FAILURES;
      log.info({ name }, 'objects of the API server are followed again');
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
        repeat({ delay: () => (next === 'again' ? of(true) : next === 'later' ? wait() : EMPTY) }),
      );
    });

    // Only a list can fail; what goes wrong with a watch is said, and ends it.
    const round$ = concat(
      defer(() => listOnce<T>(ports, target, progress)).pipe(
        map((event) => (event.kind === 'problem' ? problem('list', event) : event)),
      ),
      watching$,
    ).pipe(catchError((error: unknown) => of(problem('list', { error, severity: 'error' }))));
    return round$.pipe(repeat({ delay: wait }));
  });
