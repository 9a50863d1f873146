import { errorText } from '../model/cri/cri-error.js';
import { ApiError } from '../model/kube-api/api-error.js';
import type { ApiRequest } from '../streams/ports/api-server.js';
import type { Logger } from '../streams/ports/logger.js';
import type { Metrics } from '../streams/ports/metrics.js';
import type { Connections } from './connections.js';
import type { ApiCredential, ApiCredentials } from './credentials.js';
import type { TransportReply, RequestFate } from './http-transport.js';

/** The number of times that a request is sent again because the server has not processed it. Source: golang.org/x/net/http2/transport.go RoundTripOpt */
const MOST_REPETITIONS = 6;

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
  accept: (response: TransportReply) => void,
  fail: (error: ApiError) => void,
) => () => void;

/**
 * Makes the sender of requests. A request that the server has not processed is sent again, and so is a read over a kept connection that broke.
 * A request that is refused with 401 is sent again once if there are newer credentials, which upstream does not do.
 *
 * Source: net/http/transport.go shouldRetryRequest of Go; golang.org/x/net/http2/transport.go shouldRetryRequest;
 *         staging/src/k8s.io/client-go/transport/token_source.go
 */
export const exchanges = ({ base, pool, credentials, userAgent, log, metrics }: ExchangeOptions): Send => {
  const prefix = base.pathname.replace(/(?<!\/)\/+$/, '');
  return (asked, accept, fail) => {
    const { method, path, query = {}, body, contentType = 'application/json' } = asked;
    const search = new URLSearchParams(query).toString();
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    let isOver = false;
    let attempts = 0;
    let repetitions = 0;
    let cancel = (): void => undefined;
    const unanswered = (error: unknown): void => {
      if (!isOver) fail(lost(`${method} ${path}`, error));
    };
    const mayRepeat = (fate: RequestFate): boolean => {
      if (fate === 'unprocessed') return ++repetitions <= MOST_REPETITIONS;
      // Each repetition of this kind is one kept connection less, and none is of this kind over a new connection.
      return fate === 'stale' && method === 'GET';
    };

    const attempt = (credential: ApiCredential, mayRenew: boolean): void => {
      const number = ++attempts;
      const request = {
        method,
        path: `${prefix}${path}${search === '' ? '' : `?${search}`}`,
        headers: {
          accept: 'application/json',
          'user-agent': userAgent,
          ...(content && { 'content-type': contentType, 'content-length': String(content.length) }),
          ...mutable(credential.headers),
        },
        content,
      };
      const cancelThis = pool.send(credential.tls, request, {
        broken: (error, fate) => {
          if (isOver) return;
          if (mayRepeat(fate)) return start(mayRenew);
          metrics?.apiAttempt(method, base.host, undefined);
          unanswered(error);
        },
        reply: (response) => {
          metrics?.apiAttempt(method, base.host, response.statusCode);
          if (response.statusCode === 401) refused(response, credential, mayRenew);
          else accept(response);
        },
      });
      // A later attempt may have begun meanwhile.
      if (number === attempts) cancel = cancelThis;
    };

    const refused = (response: TransportReply, credential: ApiCredential, mayRenew: boolean): void => {
      credential.refuse();
      if (!mayRenew) return accept(response);
      credentials.current().then(
        (renewed) => {
          if (isOver) return;
          if (isSame(renewed, credential)) return accept(response);
          response.body.resume();
          attemptWith(renewed, false);
        },
        (error: unknown) => {
          log.warn({ error: String(error) }, 'the API server refuses the credentials, and there are no others');
          if (!isOver) accept(response);
        },
      );
    };

    const attemptWith = (credential: ApiCredential, mayRenew: boolean): void => {
      if (isOver) return;
      try {
        attempt(credential, mayRenew);
      } catch (error) {
        // An invalid header, for example.
        unanswered(error);
      }
    };

    const start = (mayRenew: boolean): void =>
      void credentials.current().then((credential) => attemptWith(credential, mayRenew), unanswered);

    start(true);
    return () => {
      isOver = true;
      cancel();
    };
  };
};

/** The error of a request without a complete reply. */
export const lost = (place: string, cause: unknown): ApiError =>
  new ApiError({ message: `${place}: ${errorText(cause)}`, cause });

const isSame = (one: ApiCredential, other: ApiCredential): boolean =>
  one.tls === other.tls && one.headers.authorization === other.headers.authorization;

const mutable = (headers: ApiCredential['headers']): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
