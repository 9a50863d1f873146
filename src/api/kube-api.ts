import type { IncomingMessage } from 'node:http';
import { Observable, type Subscriber } from 'rxjs';
import { ApiError } from '../model/api/api-error.js';
import { apiFailure } from '../model/api/api-failure.js';
import type { ApiRequest, ApiServer, ApiWatchMessage, Logger, Metrics } from '../streams/ports.js';
import type { ApiIdentity } from './api-identity.js';
import { connections } from './connections.js';
import { apiCredentials } from './credentials.js';
import { exchanges, lost } from './exchange.js';
import { jsonLines } from './json-lines.js';

export interface KubeApiOptions {
  /** Such as `rx-kubelet/0.1.0 (linux/amd64)`. */
  readonly userAgent: string;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly metrics?: Pick<Metrics, 'apiAttempt'>;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Where proxies are named, and what programs that bring credentials get. */
  readonly env?: NodeJS.ProcessEnv;
  /** Until there is a connection. Source: apimachinery util/net/http.go */
  readonly dialMs?: number;
  readonly tlsHandshakeMs?: number;
  /** Until a connection that nothing uses is closed. */
  readonly idleMs?: number;
  /** For a program that brings credentials. */
  readonly execMs?: number;
}

export interface KubeApi extends ApiServer {
  /** Its URL. */
  readonly server: string;
  /** Its name with its port: the label of metrics. */
  readonly host: string;
  /** Closes connections that nothing uses. */
  readonly closeIdle: () => void;
  /**
   * Breaks all connections, watches as well: for when heartbeats fail again and again, since a connection that has died in silence
   * would be used on and on. Source: cmd/kubelet/app/server.go onHeartbeatFailure
   */
  readonly resetConnections: () => void;
  /** Breaks all connections, and ends a program that brings credentials. */
  readonly close: () => void;
}

/**
 * An API server over HTTP/1.1, as one identity. Connections are kept open and shared; a request that only reads and finds that its
 * old connection had been closed is sent again over a new one. Certificates, tokens and what programs bring are renewed without
 * anybody's doing; a request that is refused with 401 is sent again once if there is something newer to send.
 *
 * Errors: at once, certificates and keys that cannot be used, and a proxy that is none.
 */
export const kubeApi = (
  identity: ApiIdentity,
  {
    userAgent,
    log,
    metrics,
    now = Date.now,
    env = process.env,
    dialMs = 30_000,
    tlsHandshakeMs = 10_000,
    idleMs = 60_000,
    execMs = 60_000,
  }: KubeApiOptions,
): KubeApi => {
  const base = new URL(identity.server);
  const pool = connections(identity, env, { dialMs, tlsHandshakeMs, idleMs });
  const credentials = apiCredentials(identity, { log, now, env, timeoutMs: execMs });
  const send = exchanges({ base, pool, credentials, userAgent, log, metrics });

  /** Sends it, and hands a reply of success to `read`. */
  const ask = <T>(
    asked: ApiRequest,
    read: (response: IncomingMessage, subscriber: Subscriber<T>) => void,
  ): Observable<T> =>
    new Observable((subscriber) =>
      send(
        asked,
        (response) => {
          if (isSuccess(response)) return read(response, subscriber);
          readBody(response, nameOf(asked), subscriber, (body) => subscriber.error(failureOf(asked, response, body)));
        },
        (error) => subscriber.error(error),
      ),
    );

  return {
    server: identity.server,
    host: base.host,
    closeIdle: pool.closeIdle,
    resetConnections: pool.reset,
    close: () => {
      credentials.close();
      pool.reset();
    },
    request: (asked) =>
      ask(asked, (response, subscriber) =>
        readBody(response, nameOf(asked), subscriber, (body) => {
          const value = body === '' ? undefined : parse(body);
          if (value === UNREADABLE) return subscriber.error(unexpected(nameOf(asked), 'JSON', body));
          subscriber.next(value);
          subscriber.complete();
        }),
      ),
    watch: ({ path, query }) =>
      ask<ApiWatchMessage>({ method: 'GET', path, query: { ...query, watch: 'true' } }, (response, subscriber) => {
        const place = `watch of ${path}`;
        const lines = jsonLines();
        subscriber.next({ kind: 'opened' });
        response.on('data', (chunk: Buffer) => {
          for (const line of lines.push(chunk)) {
            const message = parse(line);
            if (!isEvent(message)) return subscriber.error(unexpected(place, 'an event in JSON', line));
            subscriber.next({ kind: 'event', type: message.type, object: message.object });
          }
        });
        response.on('error', (error) => subscriber.error(lost(place, error)));
        response.on('end', () => {
          const rest = lines.rest();
          if (rest === '') subscriber.complete();
          else subscriber.error(unexpected(place, 'a whole event before its end', rest));
        });
      }),
  };
};

const nameOf = ({ method, path }: ApiRequest): string => `${method} ${path}`;

const isSuccess = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

const readBody = <T>(
  response: IncomingMessage,
  place: string,
  subscriber: Subscriber<T>,
  whole: (body: string) => void,
): void => {
  const chunks: Buffer[] = [];
  // It may have broken while credentials were renewed, and then says nothing more.
  if (response.destroyed) return subscriber.error(lost(place, response.errored ?? new Error('the connection broke')));
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('error', (error) => subscriber.error(lost(place, error)));
  response.on('end', () => whole(Buffer.concat(chunks).toString('utf8')));
};

const failureOf = (
  { method, path }: ApiRequest,
  { statusCode = 0, headers }: IncomingMessage,
  body: string,
): ApiError =>
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

/** The reply is none of an API server. An object is not quoted: it may be a secret. */
const unexpected = (place: string, expected: string, found: string): ApiError =>
  new ApiError({
    message: `${place}: expected ${expected}, found ${found.startsWith('{') ? 'a part of one' : JSON.stringify(found.slice(0, 200))}`,
  });
