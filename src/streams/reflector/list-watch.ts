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
  type SchedulerLike,
  takeWhile,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import { ApiError, isGone } from '../../model/kube-api/api-error.js';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import { isTooLargeResourceVersion, statusError } from '../../model/reflector/list-watch-error.js';
import type { ReflectorEvent, ReflectorProblem } from '../../model/reflector/reflector-event.js';
import {
  isOlderThanAsked,
  listedAt,
  listTerms,
  type ReflectorPosition,
  unavailable,
} from '../../model/reflector/reflector-position.js';
import { afterWatch, type AfterWatch, type EndedWatch, VERY_SHORT_WATCH_MS } from '../../model/reflector/watch-end.js';
import { TYPE_OF_PODS, typeOfItems } from '../../model/kube-api/type-of-path.js';
import { foldWatchLine, startWatch } from '../../model/reflector/watch-cursor.js';
import type { ApiServer, ApiWatchMessage } from '../ports/api-server.js';
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

/** The state that lists and watches share and change. */
export interface ListWatchProgress {
  position: ReflectorPosition;
  /** The number of watches in a row that have ended in silence. */
  silentInRow: number;
  /** The version from which the last failed watch could not start, because the server no longer had it. */
  goneAt: string | undefined;
}

/**
 * Lists once and emits all objects; emits a problem before, if the list is slow. If the server no longer has the requested version, it requests
 * the newest one at once.
 *
 * Errors: `ApiError`.
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go list
 */
export const listOnce = <T extends ApiObject>(
  { api, scheduler }: ListWatchPorts,
  { path, query }: ListWatchTarget,
  progress: ListWatchProgress,
): Observable<ReflectorEvent<T>> =>
  defer(() => {
    const attempt = (): Observable<ReflectorEvent<T>> => {
      const asked = listTerms(progress.position);
      const patient: Pick<ApiServer, 'request'> = {
        request: (request) =>
          api
            .request(request)
            .pipe(timeout({ first: WATCH_SILENCE_MS, scheduler, with: () => throwError(() => noAnswer(path)) })),
      };
      return listPages<T>(patient, path, query, asked).pipe(
        map((listed) => {
          const { objects, resourceVersion } = listed;
          if (isOlderThanAsked(asked, resourceVersion))
            throw olderThanAsked(path, resourceVersion, asked.resourceVersion);
          progress.position = listedAt(progress.position, asked, listed);
          return { kind: 'replaced', objects, resourceVersion };
        }),
      );
    };
    const listed$ = defer(attempt).pipe(
      catchError((error: unknown) => {
        if (!isGone(error) && !isTooLargeResourceVersion(error)) return throwError(() => error);
        progress.position = unavailable(progress.position);
        return defer(attempt);
      }),
    );
    const late$ = timer(SLOW_LIST_MS, scheduler).pipe(map((): ReflectorEvent<T> => SLOW_LIST));
    return merge(late$, listed$).pipe(takeWhile(({ kind }) => kind === 'problem', true));
  });

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
export type WatchNews<T extends ApiObject> =
  | { readonly kind: 'event'; readonly event: ReflectorEvent<T> }
  | { readonly kind: 'lives' }
  | { readonly kind: 'ended'; readonly after: AfterWatch };

type Message =
  | { readonly kind: 'message'; readonly message: ApiWatchMessage }
  | { readonly kind: 'end'; readonly how: EndedWatch['how'] };

/**
 * Watches once, from the current position. The last value is the next step.
 *
 * Errors: none.
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go watch, handleAnyWatch
 */
export const watchOnce = <T extends ApiObject>(
  { api, scheduler, random }: ListWatchPorts,
  { path, query, minWatchSeconds = MIN_WATCH_SECONDS }: ListWatchTarget,
  progress: ListWatchProgress,
): Observable<WatchNews<T>> =>
  defer(() => {
    const startedAt = scheduler.now();
    const { resourceVersion } = progress.position;
    let cursor = startWatch(progress.position);
    let wasOpen = false;
    let hadMessage = false;
    const seconds = Math.floor(minWatchSeconds * (1 + random()));
    const terms = {
      ...(resourceVersion !== '' && { resourceVersion }),
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(seconds),
    };
    const end = (how: EndedWatch['how']): WatchNews<T> => {
      progress.silentInRow = how.kind === 'silent' && !hadMessage ? progress.silentInRow + 1 : 0;
      if ('error' in how && isGone(how.error)) {
        // The list did not help: the server returned the same version again.
        if (progress.goneAt === progress.position.resourceVersion) progress.position = unavailable(progress.position);
        progress.goneAt = progress.position.resourceVersion;
      }
      const livedMs = scheduler.now() - startedAt;
      const { hadNews } = cursor;
      const { silentInRow } = progress;
      return { kind: 'ended', after: afterWatch({ how, wasOpen, livedMs, hadNews, silentInRow }) };
    };
    const typeOfEach = typeOfItems(path);
    // Pods are validated later, as those of a list.
    const typeOfObject = typeOfEach === TYPE_OF_PODS ? undefined : typeOfEach;
    const read = (message: ApiWatchMessage): Observable<WatchNews<T>> => {
      if (message.kind === 'opened') {
        wasOpen = true;
        return timer(VERY_SHORT_WATCH_MS, scheduler).pipe(map(() => ({ kind: 'lives' })));
      }
      wasOpen = true;
      hadMessage = true;
      const { type, object } = message;
      if (type === 'ERROR') return of(end({ kind: 'said', error: statusError(object) }));
      const folded = foldWatchLine<T>(cursor, { type, object }, typeOfObject);
      cursor = folded.cursor;
      progress.position = cursor.position;
      if (folded.wentBack) {
        progress.position = unavailable(progress.position);
        return of(end({ kind: 'went-back', error: folded.wentBack }));
      }
      return folded.event ? of({ kind: 'event', event: folded.event }) : EMPTY;
    };
    return concat(
      defer(() => api.watch({ path, query: { ...query, ...terms } })).pipe(
        map((message): Message => ({ kind: 'message', message })),
        timeout({
          each: WATCH_SILENCE_MS,
          scheduler,
          with: () => of<Message>({ kind: 'end', how: { kind: 'silent' } }),
        }),
      ),
      of<Message>({ kind: 'end', how: { kind: 'closed' } }),
    ).pipe(
      catchError((error: unknown) => of<Message>({ kind: 'end', how: { kind: 'failed', error } })),
      takeWhile(({ kind }) => kind !== 'end', true),
      mergeMap((message) => (message.kind === 'end' ? of(end(message.how)) : read(message.message))),
      takeWhile(({ kind }) => kind !== 'ended', true),
    );
  });
