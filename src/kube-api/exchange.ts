import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { ApiError } from '../model/kube-api/api-error.js';
import type { ApiRequest } from '../streams/ports/api-server.js';
import type { Logger } from '../streams/ports/logger.js';
import type { Metrics } from '../streams/ports/metrics.js';
import type { Connections } from './connections.js';
import type { ApiCredential, ApiCredentials } from './credentials.js';

export interface ExchangeOptions {
  readonly base: URL;
  readonly pool: Connections;
  readonly credentials: ApiCredentials;
  readonly userAgent: string;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Pick<Metrics, 'apiAttempt'> | undefined;
}

/**
 * Sends a request until there is a reply. Calls `accept` with the reply of any status, or `fail` with an `ApiError`: one of them, once.
 * Returns a function that cancels the request, after which neither is called; it does nothing once the reply was read to its end.
 */
export type Send = (
  request: ApiRequest,
  accept: (response: IncomingMessage) => void,
  fail: (error: ApiError) => void,
) => () => void;

/**
 * Makes the sender of requests. A request that is refused with 401 is sent again once if there are newer credentials, which upstream
 * does not do.
 *
 * Source: net/http/transport.go shouldRetryRequest of Go; staging/src/k8s.io/client-go/transport/token_source.go
 */
export const exchanges = ({ base, pool, credentials, userAgent, log, metrics }: ExchangeOptions): Send => {
  const open = base.protocol === 'https:' ? requestHttps : requestHttp;
  const prefix = base.pathname.replace(/\/+$/, '');
  return (asked, accept, fail) => {
    const { method, path, query = {}, body, contentType = 'application/json' } = asked;
    const search = new URLSearchParams(query).toString();
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    let isOver = false;
    let destroy = (): void => undefined;
    const unanswered = (error: unknown): void => {
      if (!isOver) fail(lost(`${method} ${path}`, error));
    };

    const attempt = (credential: ApiCredential, mayRenew: boolean): void => {
      const request = open({
        protocol: base.protocol,
        host: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port,
        path: `${prefix}${path}${search === '' ? '' : `?${search}`}`,
        method,
        agent: pool.agent(credential.tls),
        headers: {
          accept: 'application/json',
          'user-agent': userAgent,
          ...(content && { 'content-type': contentType, 'content-length': content.length }),
          ...mutable(credential.headers),
        },
      });
      let isAnswered = false;
      // Errors after a cancellation are ignored.
      destroy = () => request.on('error', () => undefined).destroy();
      pool.watchOver(request);
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (isOver || isAnswered) return;
        const isStale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        if (isStale && method === 'GET') return start(credential, mayRenew);
        metrics?.apiAttempt(method, base.host, undefined);
        unanswered(error);
      });
      request.on('response', (response) => {
        isAnswered = true;
        metrics?.apiAttempt(method, base.host, response.statusCode);
        if (response.statusCode === 401) refused(response, credential, mayRenew);
        else accept(response);
      });
      request.end(content);
    };

    const refused = (response: IncomingMessage, credential: ApiCredential, mayRenew: boolean): void => {
      credential.refuse();
      if (!mayRenew) return accept(response);
      credentials.current().then(
        (renewed) => {
          if (isOver) return;
          if (isSame(renewed, credential)) return accept(response);
          response.on('error', () => undefined).resume();
          start(renewed, false);
        },
        (error: unknown) => {
          log.warn({ error: String(error) }, 'the API server refuses the credentials, and there are no others');
          if (!isOver) accept(response);
        },
      );
    };

    const start = (credential: ApiCredential, mayRenew: boolean): void => {
      if (isOver) return;
      try {
        attempt(credential, mayRenew);
      } catch (error) {
        // Node.js throws on invalid headers before it sends the request.
        unanswered(error);
      }
    };

    credentials.current().then((credential) => start(credential, true), unanswered);
    return () => {
      isOver = true;
      destroy();
    };
  };
};

/** The error of a request without a complete reply. */
export const lost = (place: string, cause: unknown): ApiError =>
  new ApiError({ message: `${place}: ${cause instanceof Error ? cause.message : String(cause)}`, cause });

const isSame = (one: ApiCredential, other: ApiCredential): boolean =>
  one.tls === other.tls && one.headers.authorization === other.headers.authorization;

const mutable = (headers: ApiCredential['headers']): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
