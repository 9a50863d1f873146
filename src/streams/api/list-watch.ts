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
import { ApiError, isGone } from '../../model/api/api-error.js';
import type { ApiObject } from '../../model/api/api-object.js';
import { isTooLargeResourceVersion, statusError } from '../../model/api/list-watch-error.js';
import type { ReflectorEvent, ReflectorProblem } from '../../model/api/reflector-event.js';
import {
  isOlderThanAsked,
  listedAt,
  listTerms,
  type ReflectorPosition,
  unavailable,
} from '../../model/api/reflector-position.js';
import { afterWatch, type AfterWatch, type EndedWatch, VERY_SHORT_WATCH_MS } from '../../model/api/watch-end.js';
import { foldWatchLine, startWatch } from '../../model/api/watch-cursor.js';
import type { ApiServer, ApiWatchMessage, Random } from '../ports.js';
import type { ApiQuery } from './api-client.js';
import { listPages } from './list-pages.js';

/**
 * A list and a watch that say nothing for so long are given up. Servers send a bookmark about once a minute, so on most of them a watch
 * that is silent for longer is one whose connection has died without a word.
 */
export const WATCH_SILENCE_MS = 90_000;
/** A list that takes longer is a problem while it goes on. Source: client-go tools/cache/reflector.go list */
export const SLOW_LIST_MS = 10_000;
/** The server ends a watch after so long to twice as long, by chance, so that those of many nodes do not come back together. */
export const MIN_WATCH_SECONDS = 300;

export interface ListWatchPorts {
  readonly api: Pick<ApiServer, 'request' | 'watch'>;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
}

export interface ListWatchTarget {
  /** Of the collection, such as `/api/v1/pods`. */
  readonly path: string;
  /** What is selected. */
  readonly query: ApiQuery;
  /** A watch lasts so long to twice as long; 300 unless given. */
  readonly minWatchSeconds?: number | undefined;
}

/** What one list or watch has moved on, across all of them. */
export interface ListWatchProgress {
  position: ReflectorPosition;
  /** Watches in a row that have ended in silence. */
  silentInRow: number;
  /** From where a watch was not possible any more, the last time that happened. */
  goneAt: string | undefined;
}

/**
 * Lists once and says what there is, and before that if it is slow. What the server cannot give as of the version that is asked for is asked for again at once, as of now.
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

/** Like the answer of a server that knows better: it is asked for what is newest. */
const olderThanAsked = (path: string, resourceVersion: string, asked: string): ApiError =>
  new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `GET ${path}: Too large resource version: ${asked}, current: ${resourceVersion}`,
  });

/** What a watch says: events, that it is more than a short one, and last how it ended. */
export type WatchNews<T extends ApiObject> =
  | { readonly kind: 'event'; readonly event: ReflectorEvent<T> }
  | { readonly kind: 'lives' }
  | { readonly kind: 'ended'; readonly after: AfterWatch };

type Message =
  | { readonly kind: 'message'; readonly message: ApiWatchMessage }
  | { readonly kind: 'end'; readonly how: EndedWatch['how'] };

/**
 * Watches once, from where things stand, and says last what comes after.
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
    let wasHeard = false;
    const seconds = Math.floor(minWatchSeconds * (1 + random()));
    const terms = {
      ...(resourceVersion !== '' && { resourceVersion }),
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(seconds),
    };
    const end = (how: EndedWatch['how']): WatchNews<T> => {
      progress.silentInRow = how.kind === 'silent' && !wasHeard ? progress.silentInRow + 1 : 0;
      if ('error' in how && isGone(how.error)) {
        // A list as of there has not helped, for the server has given the same again.
        if (progress.goneAt === progress.position.resourceVersion) progress.position = unavailable(progress.position);
        progress.goneAt = progress.position.resourceVersion;
      }
      const livedMs = scheduler.now() - startedAt;
      const { hadNews } = cursor;
      const { silentInRow } = progress;
      return { kind: 'ended', after: afterWatch({ how, wasOpen, livedMs, hadNews, silentInRow }) };
    };
    const read = (message: ApiWatchMessage): Observable<WatchNews<T>> => {
      if (message.kind === 'opened') {
        wasOpen = true;
        return timer(VERY_SHORT_WATCH_MS, scheduler).pipe(map(() => ({ kind: 'lives' })));
      }
      wasOpen = true;
      wasHeard = true;
      const { type, object } = message;
      if (type === 'ERROR') return of(end({ kind: 'said', error: statusError(object) }));
      const folded = foldWatchLine<T>(cursor, { type, object });
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
