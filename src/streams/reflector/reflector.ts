import { catchError, concat, concatMap, defer, EMPTY, type Observable, of, repeat, timer } from 'rxjs';
import { ApiError } from '../../model/kube-api/api-error.js';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import type { ReflectorEvent, ReflectorProblem } from '../../model/reflector/reflector-event.js';
import {
  nextRetry,
  retryFailed,
  type ReflectorRetries,
  retrySucceeded,
  startRetries,
} from '../../model/reflector/reflector-retries.js';
import type { AfterWatch } from '../../model/reflector/watch-end.js';
import { type ReflectorProgress, startProgress } from '../../model/reflector/watch-run.js';
import { errorText } from '../../model/cri/cri-error.js';
import { every } from '../operators/every.js';
import type { Logger } from '../ports/logger.js';
import { listOnce, type ListWatchPorts, watchOnce } from './list-watch.js';

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
    let state: ReflectorState = {
      progress: startProgress(notOlderThan),
      retries: startRetries(scheduler.now()),
      next: 'again',
    };
    const change = (fields: Partial<ReflectorState>): void => {
      state = { ...state, ...fields };
    };

    const waitMs = (): number => {
      const { delayMs, retries } = nextRetry(state.retries, scheduler.now(), random());
      change({ retries });
      return delayMs;
    };
    const problem = (
      step: ReflectorProblem['step'],
      { error, severity: asSuch }: Pick<ReflectorProblem, 'error' | 'severity'>,
    ): ReflectorProblem => {
      const text = `${step} ${errorText(error)}`;
      const failure = { text, severity: asSuch, retryAfterMs: retryAfterMs(error) };
      const { severity, retries } = retryFailed(state.retries, failure);
      change({ retries });
      log[severity === 'warning' ? 'warn' : severity](
        { name, step, error: errorText(error) },
        'cannot watch objects of the API server',
      );
      return { kind: 'problem', step, error, severity };
    };
    const recovery = (): Observable<ReflectorEvent<T>> => {
      if (state.retries.said.size === 0) return EMPTY;
      change({ retries: retrySucceeded(state.retries) });
      log.info({ name }, 'objects of the API server are watched again');
      return of({ kind: 'recovered' });
    };

    const listing$ = defer(() => listOnce<T>(ports, target, state.progress.position)).pipe(
      concatMap(({ position, event }): Observable<ReflectorEvent<T>> => {
        if (position) change({ progress: { ...state.progress, position } });
        if (!event) return EMPTY;
        return of(event.kind === 'problem' ? problem('list', event) : event);
      }),
    );
    const watching$ = defer(() => watchOnce<T>(ports, target, state.progress)).pipe(
      concatMap((news): Observable<ReflectorEvent<T>> => {
        switch (news.kind) {
          case 'lives':
            return recovery();
          case 'event':
            return news.event.kind === 'problem'
              ? of(problem('watch', news.event))
              : concat(recovery(), of(news.event));
          case 'ended': {
            const { after, progress } = news;
            change({ progress, next: after.next });
            return after.problem ? of(problem('watch', after.problem)) : EMPTY;
          }
        }
      }),
      repeat({
        delay: () => (state.next === 'again' ? of(true) : state.next === 'later' ? timer(waitMs(), scheduler) : EMPTY),
      }),
    );

    // Only a list fails; a failure of a watch is a value and ends the watch.
    const round$ = concat(listing$, watching$).pipe(
      catchError((error: unknown) => of(problem('list', { error, severity: isExpected?.(error) ? 'debug' : 'error' }))),
    );
    return every({ periodMs: waitMs, scheduler }, () => round$);
  });

interface ReflectorState {
  readonly progress: ReflectorProgress;
  readonly retries: ReflectorRetries;
  /** The step after the last watch. */
  readonly next: AfterWatch['next'];
}

const retryAfterMs = (error: unknown): number | undefined =>
  error instanceof ApiError ? Math.min(1_000 * (error.retryAfterSeconds ?? 0), MAX_RETRY_AFTER_MS) : undefined;
