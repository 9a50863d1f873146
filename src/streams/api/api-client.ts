import {
  catchError,
  defer,
  EMPTY,
  expand,
  identity,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  reduce,
  retry,
  type SchedulerLike,
  tap,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import { ApiError, isGone } from '../../model/api/api-error.js';
import type { ApiList, ApiObject } from '../../model/api/api-object.js';
import { type PatchType, STRATEGIC_MERGE_PATCH } from '../../model/api/patch-type.js';
import { retryAfterMs } from '../../model/api/retry-after.js';
import { noMetrics } from '../no-metrics.js';
import type { ApiRequest, ApiServer, Logger, Metrics } from '../ports.js';
import { type RateLimit, rateLimit } from '../rate-limit.js';

export type ApiQuery = Readonly<Record<string, string>>;

/**
 * The API server with limits, time-outs and the retries that it asks for. Nothing is sent until it is subscribed; a call emits one
 * value and completes. Errors: `ApiError`.
 */
export interface ApiClient extends ApiServer {
  readonly get: <T = ApiObject>(path: string, query?: ApiQuery) => Observable<T>;
  /** One page, or everything where the query has no `limit`. */
  readonly list: <T extends ApiObject = ApiObject>(path: string, query?: ApiQuery) => Observable<ApiList<T>>;
  /** Everything, read in pages of 500, as one list with the metadata of its first page but for `continue`. */
  readonly everyPage: <T extends ApiObject = ApiObject>(path: string, query?: ApiQuery) => Observable<ApiList<T>>;
  readonly create: <T = ApiObject>(path: string, body: unknown, query?: ApiQuery) => Observable<T>;
  readonly update: <T = ApiObject>(path: string, body: unknown) => Observable<T>;
  /** A strategic merge patch unless told otherwise. */
  readonly patch: <T = ApiObject>(path: string, body: unknown, contentType?: PatchType) => Observable<T>;
  /**
   * A strategic merge patch that is made when its turn has come, and made again for another attempt: what was found out while it waited
   * is in it. Completes without a value when there is nothing to say by then.
   */
  readonly patchLate: <T = ApiObject>(path: string, body: () => unknown) => Observable<T>;
  /** `body`: DeleteOptions. */
  readonly delete: <T = unknown>(path: string, body?: unknown) => Observable<T>;
}

export interface ApiClientOptions {
  /** Requests each second after `burst` of them; 0 for 5, and below zero for any number. */
  readonly qps: number;
  /** 0 for 10. */
  readonly burst: number;
  /**
   * For a request, with everything but the wait for its first turn; none for watches. 60 s unless given: the API server gives
   * up by then as well.
   */
  readonly timeoutMs?: number;
  readonly scheduler: SchedulerLike;
  /** Of the API server, with its port: the label of metrics. */
  readonly host?: string;
  readonly metrics?: Metrics;
  readonly log?: Logger;
}

const DEFAULT_QPS = 5;
const DEFAULT_BURST = 10;
const REQUEST_TIMEOUT_MS = 60_000;
const MAX_RETRIES = 10;
const PAGE_SIZE = 500;
/** A longer wait for a turn is worth a line of the log, but no more often than every ten seconds. */
const LONG_WAIT_MS = 1_000;
const LOG_EVERY_MS = 10_000;

/**
 * A client of the API server. All requests of one client share one token bucket, in the order in which they came; watches pass it by,
 * but for their retries. What the server answers with 429 or 5xx and Retry-After is sent again when it says, up to ten times, and so is
 * after 1 s what only reads and lost its connection. A watch is only sent again until it has been opened.
 *
 * Source: staging/src/k8s.io/client-go/rest/request.go, with_retry.go, config.go RESTClientForConfigAndClient
 */
export const apiClient = (
  api: ApiServer,
  { qps, burst, timeoutMs = REQUEST_TIMEOUT_MS, scheduler, host = 'none', metrics = noMetrics, log }: ApiClientOptions,
): ApiClient => {
  const limit: RateLimit =
    qps < 0
      ? () => identity
      : rateLimit({ perSecond: qps === 0 ? DEFAULT_QPS : qps, burst: burst === 0 ? DEFAULT_BURST : burst }, scheduler);
  let loggedAt = -Infinity;
  /** Waits for a turn, and says so. */
  const takeTurn = <T>(method: string, path: string, reason: string): MonoTypeOperatorFunction<T> =>
    limit<T>((waitedMs) => {
      metrics.apiThrottled(method, host, waitedMs / 1_000);
      if (waitedMs <= LONG_WAIT_MS || scheduler.now() - loggedAt < LOG_EVERY_MS) return;
      loggedAt = scheduler.now();
      log?.info({ waitedMs, method, path, reason }, 'waited before sending a request to the API server');
    });
  /** Sends it again as long as the server asks for it, or `mayRetryLost` says that it may be repeated. */
  const again =
    <T>(method: string, path: string, mayRepeat: () => boolean, mayRetryLost: boolean) =>
    (attempt$: Observable<T>): Observable<T> =>
      defer(() => {
        let reason: string | undefined;
        return defer(() => (reason === undefined ? attempt$ : attempt$.pipe(takeTurn(method, path, reason)))).pipe(
          retry({
            count: MAX_RETRIES,
            delay: (error: unknown, count) => {
              const waitMs = mayRepeat() ? retryAfterMs(error, mayRetryLost) : undefined;
              if (waitMs === undefined) return throwError(() => error);
              reason = `retry ${count}: ${(error as ApiError).message}`;
              return timer(waitMs, scheduler);
            },
          }),
        );
      });

  const request = (asked: ApiRequest, toSend: () => ApiRequest | undefined = () => asked): Observable<unknown> =>
    defer(() => {
      const { method, path } = asked;
      const startedAt = scheduler.now();
      let previous: unknown;
      return defer(() => {
        const sent = toSend();
        return sent ? api.request(sent) : EMPTY;
      }).pipe(
        tap({
          error: (error: unknown) => {
            previous = error;
          },
        }),
        again(method, path, () => true, method === 'GET'),
        timeout({
          first: timeoutMs,
          scheduler,
          with: () =>
            throwError(
              () =>
                new ApiError({
                  message: `${method} ${path}: no answer within ${timeoutMs / 1_000} s${after(previous)}`,
                }),
            ),
        }),
        takeTurn(method, path, 'too many requests of this agent'),
        tap({ finalize: () => metrics.apiRequest(method, host, (scheduler.now() - startedAt) / 1_000) }),
      );
    });

  const ask = <T>(asked: ApiRequest): Observable<T> => request(asked) as Observable<T>;
  const list = <T extends ApiObject>(path: string, query?: ApiQuery): Observable<ApiList<T>> =>
    ask({ method: 'GET', path, ...(query && { query }) });

  return {
    request: (asked) => request(asked),
    watch: (asked) =>
      defer(() => {
        let isOpen = false;
        return defer(() => api.watch(asked)).pipe(
          tap(() => (isOpen = true)),
          again('GET', asked.path, () => !isOpen, true),
        );
      }),
    get: (path, query) => ask({ method: 'GET', path, ...(query && { query }) }),
    list,
    everyPage: <T extends ApiObject>(path: string, query?: ApiQuery) => everyPage<T>(list, path, query),
    create: (path, body, query) => ask({ method: 'POST', path, body, ...(query && { query }) }),
    update: (path, body) => ask({ method: 'PUT', path, body }),
    patch: (path, body, contentType = STRATEGIC_MERGE_PATCH) => ask({ method: 'PATCH', path, body, contentType }),
    patchLate: <T>(path: string, body: () => unknown) => {
      const asked = { method: 'PATCH', path, contentType: STRATEGIC_MERGE_PATCH } as const;
      const toSend = (): ApiRequest | undefined => {
        const patch = body();
        return patch === undefined ? undefined : { ...asked, body: patch };
      };
      return request(asked, toSend) as Observable<T>;
    },
    delete: (path, body) => ask({ method: 'DELETE', path, ...(body !== undefined && { body }) }),
  };
};

const after = (previous: unknown): string =>
  previous instanceof Error ? `, after an attempt that failed: ${previous.message}` : '';

interface Page<T extends ApiObject> {
  readonly page: ApiList<T>;
  /** It is not one of several. */
  readonly isWhole?: true;
}

/**
 * Everything as one list. When the snapshot that later pages are read from is gone, everything is read at once instead.
 *
 * Source: staging/src/k8s.io/client-go/tools/pager/pager.go
 */
const everyPage = <T extends ApiObject>(
  list: (path: string, query?: ApiQuery) => Observable<ApiList<T>>,
  path: string,
  query: ApiQuery = {},
): Observable<ApiList<T>> => {
  const later = without(query, 'resourceVersion', 'resourceVersionMatch');
  const limit = String(PAGE_SIZE);
  const nextPage = (token: string): Observable<Page<T>> =>
    list(path, { ...later, limit, continue: token }).pipe(
      map((page): Page<T> => ({ page })),
      catchError((error: unknown) =>
        isGone(error)
          ? list(path, query).pipe(map((page): Page<T> => ({ page, isWhole: true })))
          : throwError(() => error),
      ),
    );
  return list(path, { ...query, limit }).pipe(
    map((page): Page<T> => ({ page })),
    expand(({ page: { metadata } }) => (metadata.continue ? nextPage(metadata.continue) : EMPTY)),
    reduce((before, next) => (next.isWhole ? next : { page: joined(before.page, next.page) })),
    map(({ page }) => withoutContinue(page)),
  );
};

const joined = <T extends ApiObject>(before: ApiList<T>, next: ApiList<T>): ApiList<T> => ({
  ...before,
  items: [...(before.items ?? []), ...(next.items ?? [])],
});

const withoutContinue = <T extends ApiObject>(list: ApiList<T>): ApiList<T> => ({
  ...list,
  metadata: without(list.metadata, 'continue'),
});

const without = <Value extends object, Key extends keyof Value>(value: Value, ...keys: Key[]): Omit<Value, Key> =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key as Key))) as Omit<Value, Key>;
