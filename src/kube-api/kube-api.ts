import { asyncScheduler, Observable, type SchedulerLike, type Subscriber } from 'rxjs';
import { ApiError } from '../model/kube-api/api-error.js';
import { apiFailure } from '../model/kube-api/api-failure.js';
import { errorText } from '../model/cri/cri-error.js';
import type { ApiRequest, ApiServer, ApiWatchMessage } from '../streams/ports/api-server.js';
import type { Logger } from '../streams/ports/logger.js';
import type { Metrics } from '../streams/ports/metrics.js';
import type { ApiIdentity } from './api-identity.js';
import { connections } from './connections.js';
import { apiCredentials } from './credentials.js';
import { exchanges, lost } from './exchange.js';
import type { TransportReply } from './http-transport.js';
import { joinInTurns } from './join-in-turns.js';
import { jsonLines } from './json-lines.js';
import { identityOf, type LoadedKubeConfig } from './kube-config-identity.js';
import { countLineValues } from './json-values.js';
import { parseReply } from './parse-reply.js';
import { takeInTurns } from './take-in-turns.js';

export interface KubeApiOptions {
  /** Such as `rx-kubelet/0.1.0 (linux/amd64)`. */
  readonly userAgent: string;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly metrics?: Pick<Metrics, 'apiAttempt'>;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** The clock of connections. */
  readonly scheduler?: SchedulerLike;
  /** The environment: it names proxies, has the settings of HTTP/2, and is passed to programs for credentials. */
  readonly env?: NodeJS.ProcessEnv;
  /** The time limit for a connection. Source: apimachinery util/net/http.go */
  readonly dialMs?: number;
  readonly tlsHandshakeMs?: number;
  /** The time after which an idle connection is closed. */
  readonly idleMs?: number;
  /** The time limit of a program for credentials. */
  readonly execMs?: number;
  /** The longest event of a watch. Default: 16 MiB. Source: apimachinery runtime/serializer/streaming */
  readonly maxEventLength?: number;
  /** The longest other reply. Default: 128 MiB. To process a longer one would hold up the agent. */
  readonly maxReplyBytes?: number;
}

/** The default time limits; see `KubeApiOptions`. */
export const DIAL_MS = 30_000;
export const TLS_HANDSHAKE_MS = 10_000;
export const IDLE_MS = 60_000;
export const EXEC_MS = 60_000;
const MAX_EVENT_LENGTH = 16 * 2 ** 20;
const MAX_REPLY_BYTES = 128 * 2 ** 20;

export interface KubeApi extends ApiServer {
  /** The URL of the server. */
  readonly server: string;
  /** `host:port` of the server: the label of metrics. */
  readonly host: string;
  /** Closes connections without requests. */
  readonly closeIdle: () => void;
  /**
   * Closes the connections with HTTP/1.1, with their watches: after repeated failures of heartbeats, since a dead connection may show no
   * error. With HTTP/2 pings show it, so that only connections without requests are closed; a slow server would otherwise have to serve all
   * watches again. Source: cmd/kubelet/app/server.go buildKubeletClientConfig, onHeartbeatFailure
   */
  readonly resetConnections: () => void;
  /** Closes all connections, and kills a running program for credentials. */
  readonly close: () => void;
}

/**
 * Makes the port to an API server, for one identity, or for that of a `KubeConfig` of the Kubernetes client. It speaks HTTP/2 with servers
 * that offer it over TLS, else HTTP/1.1. Connections are kept open and shared. A request that the server has not processed is sent again
 * over another connection, and so is a GET if its connection was in use before and broke. Certificates, tokens and the output of programs
 * are renewed by themselves; a request that is refused with 401 is sent again once if there are newer credentials.
 *
 * Errors: throws on certificates and keys that cannot be used, on an invalid proxy, and on a `KubeConfig` that cannot be used.
 */
export const kubeApi = (
  whoAndWhere: ApiIdentity | LoadedKubeConfig,
  {
    userAgent,
    log,
    metrics,
    now = Date.now,
    scheduler = asyncScheduler,
    env = process.env,
    dialMs = DIAL_MS,
    tlsHandshakeMs = TLS_HANDSHAKE_MS,
    idleMs = IDLE_MS,
    execMs = EXEC_MS,
    maxEventLength = MAX_EVENT_LENGTH,
    maxReplyBytes = MAX_REPLY_BYTES,
  }: KubeApiOptions,
): KubeApi => {
  const identity = identityOf(whoAndWhere);
  const base = new URL(identity.server);
  const pool = connections(identity, { env, log, scheduler, dialMs, tlsHandshakeMs, idleMs });
  const credentials = apiCredentials(identity, { log, now, env, timeoutMs: execMs });
  const send = exchanges({ base, pool, credentials, userAgent, log, metrics });

  /** Sends a request, and passes a successful reply to `read`. */
  const ask = <T>(
    asked: ApiRequest,
    read: (response: TransportReply, subscriber: Subscriber<T>) => void,
  ): Observable<T> =>
    new Observable((subscriber) =>
      send(
        asked,
        (response) => {
          if (isSuccess(response)) return read(response, subscriber);
          readBody(response, nameOf(asked), maxReplyBytes, subscriber, (body) =>
            subscriber.error(failureOf(asked, response, body.toString('utf8'))),
          );
        },
        (error) => subscriber.error(error),
      ),
    );

  return {
    server: identity.server,
    host: base.host,
    closeIdle: pool.closeIdle,
    resetConnections: pool.closeDoubtful,
    close: () => {
      credentials.close();
      pool.close();
    },
    request: (asked) =>
      ask(asked, (response, subscriber) =>
        readBody(response, nameOf(asked), maxReplyBytes, subscriber, (body) => {
          if (body.length === 0) {
            subscriber.next(undefined);
            return subscriber.complete();
          }
          parseReply(body).then(
            (value) => {
              subscriber.next(value);
              subscriber.complete();
            },
            (error: unknown) => subscriber.error(unreadable(nameOf(asked), body, error)),
          );
        }),
      ),
    watch: ({ path, query }) =>
      ask<ApiWatchMessage>({ method: 'GET', path, query: { ...query, watch: 'true' } }, (response, subscriber) => {
        const place = `watch of ${path}`;
        const lines = jsonLines(maxEventLength);
        const count = countLineValues();
        subscriber.next({ kind: 'opened' });
        const linesOf = (chunk: Buffer): readonly string[] => {
          try {
            count(chunk);
            return lines.push(chunk);
          } catch (error) {
            subscriber.error(undecodable(place, error));
            return [];
          }
        };
        takeInTurns(response.body, linesOf, (line) => {
          // A subscriber may unsubscribe on an event.
          if (subscriber.closed) return;
          const message = parse(line);
          if (!isEvent(message))
            return subscriber.error(undecodable(place, unexpected(place, 'an event in JSON', line)));
          subscriber.next({ kind: 'event', type: message.type, object: message.object });
        });
        response.onEnd(
          () => {
            const rest = lines.rest();
            if (rest === '') subscriber.complete();
            else subscriber.error(unexpected(place, 'a whole event before its end', rest));
          },
          (error) => subscriber.error(lost(place, error)),
        );
      }),
  };
};

const nameOf = ({ method, path }: ApiRequest): string => `${method} ${path}`;

const isSuccess = ({ statusCode }: TransportReply): boolean => statusCode >= 200 && statusCode < 300;

const readBody = <T>(
  response: TransportReply,
  place: string,
  maxBytes: number,
  subscriber: Subscriber<T>,
  whole: (body: Buffer) => void,
): void => {
  let chunks: Buffer[] = [];
  let bytes = 0;
  response.body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) return void chunks.push(chunk);
    chunks = [];
    subscriber.error(new ApiError({ message: `${place}: the reply is longer than ${maxBytes / 2 ** 20} MiB` }));
  });
  response.onEnd(
    () => void joinInTurns(chunks).then(whole, (error: unknown) => subscriber.error(error)),
    // The connection may also have broken before, while credentials were renewed.
    (error) => subscriber.error(lost(place, error)),
  );
};

const failureOf = ({ method, path }: ApiRequest, { statusCode, headers }: TransportReply, body: string): ApiError =>
  apiFailure({
    ...{ code: statusCode, method, path, body },
    ...(headers['content-type'] !== undefined && { contentType: headers['content-type'] }),
    ...(headers['retry-after'] !== undefined && { retryAfter: headers['retry-after'] }),
  });

const UNREADABLE = Symbol('no JSON');

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return UNREADABLE;
  }
};

const EVENTS = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] as const;
type EventType = (typeof EVENTS)[number];

const isEvent = (value: unknown): value is { readonly type: EventType; readonly object: unknown } =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  (EVENTS as readonly unknown[]).includes(value.type) &&
  'object' in value;

/**
 * The error of a line of a watch that cannot be read. A repetition would not help: unlike a lost connection, it makes the agent list
 * again. Source: apimachinery watch/streamwatcher.go, rest/request.go clientErrorReporter
 */
const undecodable = (place: string, cause: unknown): ApiError => {
  const text = cause instanceof ApiError ? cause.message : `${place}: ${errorText(cause)}`;
  return new ApiError({ code: 500, reason: 'InternalError', message: text, cause });
};

const unreadable = (place: string, body: Buffer, cause: unknown): ApiError =>
  cause instanceof SyntaxError
    ? unexpected(place, 'JSON', body.toString('utf8', 0, 1_000))
    : new ApiError({ message: `${place}: ${errorText(cause)}`, cause });

/** The error of a reply that is not from an API server. An object is not quoted, since it may be a secret. */
const unexpected = (place: string, expected: string, found: string): ApiError =>
  new ApiError({
    message: `${place}: expected ${expected}, found ${found.startsWith('{') ? 'a part of one' : JSON.stringify(found.slice(0, 200))}`,
  });
