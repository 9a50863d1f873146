import { Observable, type Subscriber } from 'rxjs';
import { errorText } from '../model/cri/cri-error.js';
import { HttpFailure } from '../model/config/http-failure.js';
import { type HttpGetAnswer, type HttpGetRequest, urlOf } from '../model/config/http-get.js';
import type { HttpRequest } from '../streams/ports/http-request.js';
import { codeOf, dialErrorText } from './dial-error-text.js';
import { h2cExchange } from './h2c-exchange.js';
import { http1Exchange } from './http1-exchange.js';
import type { HttpRequestLimits, HttpResponse } from './http-exchange.js';

/** The default time limits of a connection and of its TLS handshake. Source: Go's net/http DefaultTransport. */
export const DIAL_MS = 30_000;
export const TLS_HANDSHAKE_MS = 10_000;
const MAX_REQUESTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Requests over the sockets of this machine.
 *
 * Source: pkg/probe/http/http.go, pkg/kubelet/kubelet.go insecureContainerLifecycleHTTPClient
 */
export const httpRequest =
  ({ dialMs = DIAL_MS, tlsHandshakeMs = TLS_HANDSHAKE_MS }: HttpRequestLimits = {}): HttpRequest =>
  (first, { timeoutMs, maxBodyBytes }) =>
    new Observable((subscriber) => {
      let current: { readonly close: () => void; readonly isAnswered: boolean } | undefined;
      const fail = (stage: 'request' | 'body', detail: string, cause?: unknown) => {
        const options = { cause, isPlainHttp: isPlainHttpError(cause) };
        subscriber.error(
          new HttpFailure(stage, stage === 'body' ? detail : `Get "${urlOf(first)}": ${detail}`, options),
        );
      };

      const send = (to: HttpGetRequest, requests: number): void => {
        const exchange = to.scheme === 'http' && to.protocol === 'HTTP2' ? h2cExchange : http1Exchange;
        const close = exchange(
          to,
          { dialMs, tlsHandshakeMs },
          {
            fail: (error) => fail('request', typeof error === 'string' ? error : httpErrorText(error, to), error),
            answer: (response) => {
              const next = redirectOf(to, response);
              if (next instanceof Error) return fail('request', next.message, next);
              if (next?.host !== first.host) {
                current = { close, isAnswered: true };
                return deliver(response, maxBodyBytes, subscriber, (cause) => fail('body', 'unexpected EOF', cause));
              }
              if (requests >= MAX_REQUESTS) return fail('request', `stopped after ${MAX_REQUESTS} redirects`);
              close();
              send(next, requests + 1);
            },
          },
        );
        current = { close, isAnswered: false };
      };

      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(() => {
              if (current?.isAnswered) fail('body', TIMEOUT_IN_BODY);
              else fail('request', TIMEOUT_BEFORE_HEADERS);
            }, timeoutMs);
      try {
        send(first, 1);
      } catch (error) {
        // Node refuses some header values before anything is sent.
        fail('request', httpErrorText(error, first), error);
      }
      return () => {
        clearTimeout(timer);
        current?.close();
      };
    });

const TIMEOUT_BEFORE_HEADERS = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
const TIMEOUT_IN_BODY = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';

/** The next request of a redirect; undefined for other responses. */
const redirectOf = (from: HttpGetRequest, { status, location }: HttpResponse): HttpGetRequest | Error | undefined => {
  if (!REDIRECTS.has(status) || !location) return undefined;
  if (!URL.canParse(location, urlOf(from))) {
    return new Error(`failed to parse Location header ${JSON.stringify(location)}`);
  }
  const { protocol, hostname, port, pathname, search, host } = new URL(location, urlOf(from));
  const scheme = protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') return new Error(`unsupported protocol scheme "${scheme}"`);
  return {
    ...from,
    scheme,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (scheme === 'https' ? 443 : 80) : Number(port),
    target: pathname + search,
    // The header Host is kept unless the redirect names a host.
    headers: URL.canParse(location)
      ? from.headers.map((one) => (one[0] === 'Host' ? ['Host', host] : one))
      : from.headers,
  };
};

const deliver = (
  { status, read }: HttpResponse,
  maxBodyBytes: number,
  subscriber: Subscriber<HttpGetAnswer>,
  fail: (cause: unknown) => void,
): void => {
  const chunks: Buffer[] = [];
  let length = 0;
  const end = () => {
    const body = Buffer.concat(chunks).subarray(0, maxBodyBytes).toString('utf8');
    subscriber.next({ status, body });
    subscriber.complete();
  };
  const data = (chunk: Buffer) => {
    length += chunk.length;
    chunks.push(chunk);
    if (length >= maxBodyBytes) end();
  };
  read({ data, end, fail });
};

/** Whether a plain HTTP server answered a TLS handshake. The code depends on the version of OpenSSL. */
const isPlainHttpError = (error: unknown): boolean =>
  error instanceof Error && /:(wrong version number|packet length too long):/.test(error.message);

/** The text of the kubelet's client for the error where it has its own; else the text of the error. */
const httpErrorText = (error: unknown, to: { readonly host: string; readonly port: number }): string => {
  if (isPlainHttpError(error)) return 'http: server gave HTTP response to HTTPS client';
  const dialError = dialErrorText(error, to);
  if (dialError !== undefined) return dialError;
  const code = codeOf(error);
  if (code === 'ECONNRESET') return errorText(error) === 'socket hang up' ? 'EOF' : 'read: connection reset by peer';
  if (code?.startsWith('HPE_'))
    return `net/http: HTTP/1.x transport connection broken: malformed HTTP response (${code})`;
  return errorText(error);
};
