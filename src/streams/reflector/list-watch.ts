import {
  catchError,
  concat,
  defer,
  EMPTY,
  map,
  merge,
  mergeMap,
  type Observable,
  of,
  scan,
  type SchedulerLike,
  takeWhile,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import { ApiError, isGone } from '../../model/kube-api/api-error.js';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import { isTooLargeResourceVersion } from '../../model/reflector/list-watch-error.js';
import type { ReflectorEvent, ReflectorProblem } from '../../model/reflector/reflector-event.js';
import {
  isOlderThanAsked,
  listedAt,
  listTerms,
  type ReflectorPosition,
  unavailable,
} from '../../model/reflector/reflector-position.js';
import { VERY_SHORT_WATCH_MS } from '../../model/reflector/watch-end.js';
import {
  foldWatchInput,
  type ReflectorProgress,
  startWatchRun,
  type WatchInput,
  type WatchNews,
  type WatchRun,
} from '../../model/reflector/watch-run.js';
import { TYPE_OF_PODS, typeOfItems } from '../../model/kube-api/type-of-path.js';
import type { ApiServer } from '../ports/api-server.js';
import type { Random } from '../ports/random.js';
import type { ApiQuery } from '../cluster/api-client.js';
import { listPages } from './list-pages.js';

/**
 * The longest silence of a list and of a watch, in milliseconds; after it they are cancelled. Most servers send a bookmark about once a
 * minute, so a longer silence means a dead connection.
 */
export const WATCH_SILENCE_MS = 90_000;
/** The duration from which a running list is a problem. Source: client-go tools/cache/reflector.go list */
export const SLOW_LIST_MS = 10_000;
/** The least duration of a watch. The agent requests one to two times as much, at random, so that the watches of many nodes end at different times. */
export const MIN_WATCH_SECONDS = 300;

export interface ListWatchPorts {
  readonly api: Pick<ApiServer, 'request' | 'watch'>;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
}

export interface ListWatchTarget {
  /** The path of the collection, such as `/api/v1/pods`. */
  readonly path: string;
  /** The selectors. */
  readonly query: ApiQuery;
  /** A watch lasts one to two times as long. Default: 300. */
  readonly minWatchSeconds?: number | undefined;
}

/** A value of a list: another position, an event, or both. */
export interface ListNews<T extends ApiObject> {
  readonly position?: ReflectorPosition;
  readonly event?: ReflectorEvent<T>;
}

/**
 * Lists once, from a position, and emits all objects; emits a problem before, if the list is slow. If the server no longer has the
 * requested version, it requests the newest one at once.
 *
 * Errors: `ApiError`.
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go list
 */
export const listOnce = <T extends ApiObject>(
  { api, scheduler }: ListWatchPorts,
  { path, query }: ListWatchTarget,
  before: ReflectorPosition,
): Observable<ListNews<T>> => {
  const patient: Pick<ApiServer, 'request'> = {
    request: (request) =>
      api
        .request(request)
        .pipe(timeout({ first: WATCH_SILENCE_MS, scheduler, with: () => throwError(() => noAnswer(path)) })),
  };
  const listFrom = (position: ReflectorPosition): Observable<ListNews<T>> => {
    const asked = listTerms(position);
    return listPages<T>(patient, path, query, asked).pipe(
      map((listed) => {
        const { objects, resourceVersion } = listed;
        if (isOlderThanAsked(asked, resourceVersion))
          throw olderThanAsked(path, resourceVersion, asked.resourceVersion);
        const event: ReflectorEvent<T> = { kind: 'replaced', objects, resourceVersion };
        return { position: listedAt(position, asked, listed), event };
      }),
    );
  };
  const listed$ = defer(() => listFrom(before)).pipe(
    catchError((error: unknown) => {
      if (!isGone(error) && !isTooLargeResourceVersion(error)) return throwError(() => error);
      const position = unavailable(before);
      return concat(of<ListNews<T>>({ position }), listFrom(position));
    }),
  );
  const late$ = timer(SLOW_LIST_MS, scheduler).pipe(map((): ListNews<T> => ({ event: SLOW_LIST })));
  return merge(late$, listed$).pipe(takeWhile(({ event }) => event?.kind !== 'replaced', true));
};

const SLOW_LIST: ReflectorProblem = {
  kind: 'problem',
  step: 'list',
  error: new Error(`a list takes longer than ${SLOW_LIST_MS / 1_000} s`),
  severity: 'warning',
};

const noAnswer = (path: string): ApiError =>
  new ApiError({ message: `GET ${path}: no answer within ${WATCH_SILENCE_MS / 1_000} s` });

/** The error of a list that is older than requested. It equals the error of newer servers, after which the newest version is requested. */
const olderThanAsked = (path: string, resourceVersion: string, asked: string): ApiError =>
  new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `GET ${path}: Too large resource version: ${asked}, current: ${resourceVersion}`,
  });

/** The values of a watch: events, `lives` once it is not a very short one, and last its end. */
export type WatchValue<T extends ApiObject> =
  Exclude<WatchNews<T>, { readonly kind: 'opened' }> | { readonly kind: 'lives' };

/**
 * Watches once, from the position that is reached. The last value is the next step, with the progress after the watch.
 *
 * Errors: none.
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go watch, handleAnyWatch
 */
export const watchOnce = <T extends ApiObject>(
  { api, scheduler, random }: ListWatchPorts,
  { path, query, minWatchSeconds = MIN_WATCH_SECONDS }: ListWatchTarget,
  progress: ReflectorProgress,
): Observable<WatchValue<T>> =>
  defer(() => {
    const { resourceVersion } = progress.position;
    const start: WatchRun<T> = startWatchRun(progress, scheduler.now());
    const seconds = Math.floor(minWatchSeconds * (1 + random()));
    const terms = {
      ...(resourceVersion !== '' && { resourceVersion }),
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(seconds),
    };
    const typeOfEach = typeOfItems(path);
    // Pods are validated later, as those of a list.
    const typeOfObject = typeOfEach === TYPE_OF_PODS ? undefined : typeOfEach;
    return concat(
      defer(() => api.watch({ path, query: { ...query, ...terms } })).pipe(
        timeout({
          each: WATCH_SILENCE_MS,
          scheduler,
          with: () => of<WatchInput>({ kind: 'end', how: { kind: 'silent' } }),
        }),
      ),
      of<WatchInput>({ kind: 'end', how: { kind: 'closed' } }),
    ).pipe(
      catchError((error: unknown) => of<WatchInput>({ kind: 'end', how: { kind: 'failed', error } })),
      takeWhile(({ kind }) => kind !== 'end', true),
      scan((run, input) => foldWatchInput(run, input, { now: scheduler.now(), typeOfObject }), start),
      mergeMap(({ news }): Observable<WatchValue<T>> => {
        if (!news) return EMPTY;
        if (news.kind !== 'opened') return of(news);
        return timer(VERY_SHORT_WATCH_MS, scheduler).pipe(map(() => ({ kind: 'lives' })));
      }),
      takeWhile(({ kind }) => kind !== 'ended', true),
    );
  });
