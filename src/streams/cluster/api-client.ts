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
import { ApiError, isGone } from '../../model/kube-api/api-error.js';
import type { ApiList, ApiObject } from '../../model/kube-api/api-object.js';
import { type PatchType, STRATEGIC_MERGE_PATCH } from '../../model/kube-api/patch-type.js';
import { readApiObject } from '../../model/kube-api/read-api-object.js';
import { retryAfterMs } from '../../model/kube-api/retry-after.js';
import { typeOfAnswer } from '../../model/kube-api/type-of-path.js';
import { noMetrics } from '../ports/metrics.js';
import type { ApiRequest, ApiServer } from '../ports/api-server.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import { type RateLimit, rateLimit } from './rate-limit.js';

export type ApiQuery = Readonly<Record<string, string>>;

/**
 * The API server with limits, time-outs and the retries that it requests. A call is sent on subscribe, emits one value and completes.
 * Errors: `ApiError`.
 */
export interface ApiClient extends ApiServer {
  readonly get: <T = ApiObject>(path: string, query?: ApiQuery) => Observable<T>;
  /** One page, or the whole list if the query has no `limit`. */
  readonly list: <T extends ApiObject = ApiObject>(path: string, query?: ApiQuery) => Observable<ApiList<T>>;
  /** The whole list, read in pages of 500, with the metadata of its first page except `continue`. */
  readonly everyPage: <T extends ApiObject = ApiObject>(path: string, query?: ApiQuery) => Observable<ApiList<T>>;
  readonly create: <T = ApiObject>(path: string, body: unknown, query?: ApiQuery) => Observable<T>;
  readonly update: <T = ApiObject>(path: string, body: unknown) => Observable<T>;
  /** Default of `contentType`: a strategic merge patch. */
  readonly patch: <T = ApiObject>(path: string, body: unknown, contentType?: PatchType) => Observable<T>;
  /**
   * A strategic merge patch. `body` is called when the request has its token and again for each retry, so that the patch has the newest
   * state. Completes without a value if `body` returns undefined.
   */
  readonly patchLate: <T = ApiObject>(path: string, body: () => unknown) => Observable<T>;
  /** `body`: DeleteOptions. */
  readonly delete: <T = unknown>(path: string, body?: unknown) => Observable<T>;
}

export interface ApiClientOptions {
  /** Requests per second after `burst` requests. 0 means 5; a negative number means no limit. */
  readonly qps: number;
  /** 0 means 10. */
  readonly burst: number;
  /**
   * The time limit of a request with its retries, without the wait for its first token; watches have none. Default: 60 s, the limit of
   * the API server.
   */
  readonly timeoutMs?: number;
  readonly scheduler: SchedulerLike;
  /** `host:port` of the API server: the label of metrics. */
  readonly host?: string;
  readonly metrics?: Metrics;
  readonly log?: Logger;
}

export const DEFAULT_QPS = 5;
const DEFAULT_BURST = 10;
export const REQUEST_TIMEOUT_MS = 60_000;
export const MAX_RETRIES = 10;
const PAGE_SIZE = 500;
/** A longer wait for a token is logged, at most every ten seconds. */
const LONG_WAIT_MS = 1_000;
export const LOG_EVERY_MS = 10_000;

/**
 * Makes a client of the API server. All its requests share one token bucket, in order of arrival; watches take no token, but their
 * retries do. A request that is answered with 429 or 5xx and Retry-After is retried after that time, up to ten times. A GET
 * that lost its connection is retried after 1 s. A watch is retried only until it is open.
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
  /** Waits for a token, measures the wait, and logs a long one. */
  const takeTurn = <T>(method: string, path: string, reason: string): MonoTypeOperatorFunction<T> =>
    limit<T>((waitedMs) => {
      metrics.apiThrottled(method, host, waitedMs / 1_000);
      if (waitedMs <= LONG_WAIT_MS || scheduler.now() - loggedAt < LOG_EVERY_MS) return;
      loggedAt = scheduler.now();
      log?.info({ waitedMs, method, path, reason }, 'waited before sending a request to the API server');
    });
  /** Retries a request that the server defers by Retry-After, and after a lost connection if `mayRetryLost` is true. */
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
        map((answer) => readAnswer(asked, answer)),
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

/** Reads the answer as an object of the type of the path. A list, an empty answer and an unknown type are returned as they are. */
const readAnswer = ({ method, path }: ApiRequest, answer: unknown): unknown => {
  const type = typeOfAnswer(method, path);
  if (type === undefined || answer === undefined) return answer;
  const read = readApiObject(answer, type);
  if ('object' in read) return read.object;
  throw new ApiError({ message: `${method} ${path}: the answer ${read.problem}` });
};

const after = (previous: unknown): string =>
  previous instanceof Error ? `, after an attempt that failed: ${previous.message}` : '';

interface Page<T extends ApiObject> {
  readonly page: ApiList<T>;
  /** True if the page is the whole list. */
  readonly isWhole?: true;
}

/**
 * Reads the whole list. If the snapshot of later pages is gone, it reads the list in one request instead.
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
