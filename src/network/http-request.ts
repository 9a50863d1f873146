import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { Observable, type Subscriber } from 'rxjs';
import { HttpFailure } from '../model/config/http-failure.js';
import { type HttpGetAnswer, type HttpGetRequest, urlOf } from '../model/config/http-get.js';
import type { HttpRequest } from '../streams/ports/http-request.js';
import { httpErrorText, isPlainHttpError } from './http-error-text.js';

const MAX_REQUESTS = 10;
/** The limit for all headers of a response together, as in a client of Go. */
const MAX_HEADER_BYTES = 10 * 1024 * 1024;
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

export interface HttpRequestLimits {
  /** The limit for the TCP connection. Source: staging/src/k8s.io/apimachinery/pkg/util/net/http.go */
  readonly dialMs?: number;
  /** The limit from the connection to the end of the TLS handshake. */
  readonly tlsHandshakeMs?: number;
}

/**
 * Requests over the sockets of this machine.
 *
 * Source: pkg/probe/http/http.go, pkg/kubelet/kubelet.go insecureContainerLifecycleHTTPClient
 */
export const httpRequest =
  ({ dialMs = 30_000, tlsHandshakeMs = 10_000 }: HttpRequestLimits = {}): HttpRequest =>
  (first, { timeoutMs, maxBodyBytes }) =>
    new Observable((subscriber) => {
      let current: { readonly request: ClientRequest; readonly isAnswered: boolean } | undefined;
      const fail = (stage: 'request' | 'body', detail: string, cause?: unknown) => {
        const options = { cause, isPlainHttp: isPlainHttpError(cause) };
        subscriber.error(
          new HttpFailure(stage, stage === 'body' ? detail : `Get "${urlOf(first)}": ${detail}`, options),
        );
      };

      const send = (to: HttpGetRequest, requests: number): void => {
        const request = open(to);
        current = { request, isAnswered: false };
        const stopLimits = limitDial(request, { dialMs, tlsHandshakeMs }, (detail) => fail('request', detail));
        request.on('error', (error) => {
          stopLimits();
          fail('request', httpErrorText(error, to), error);
        });
        request.on('response', (response) => {
          const next = redirectOf(to, response);
          if (next instanceof Error) return fail('request', next.message, next);
          if (next?.host !== first.host) {
            current = { request, isAnswered: true };
            return deliver(response, maxBodyBytes, subscriber, (detail, cause) => fail('body', detail, cause));
          }
          if (requests >= MAX_REQUESTS) return fail('request', `stopped after ${MAX_REQUESTS} redirects`);
          request.destroy();
          send(next, requests + 1);
        });
        // A protocol change that was not requested is a response too.
        request.on('upgrade', ({ statusCode }, socket) => {
          socket.destroy();
          subscriber.next({ status: statusCode ?? 0, body: '' });
          subscriber.complete();
        });
        request.end();
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
        // Later errors of the cancelled request are ignored.
        current?.request.on('error', () => undefined).destroy();
      };
    });

const TIMEOUT_BEFORE_HEADERS = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
const TIMEOUT_IN_BODY = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';

/** Opens a connection that is used for one request. */
const open = ({ scheme, host, port, target, headers }: HttpGetRequest): ClientRequest => {
  const options = {
    host,
    port,
    path: target,
    method: 'GET',
    agent: false as const,
    headers: headers.flatMap(([name, value]) => [name, value]),
    maxHeaderSize: MAX_HEADER_BYTES,
    // Some small servers end lines with a line feed alone; Go accepts that.
    insecureHTTPParser: true,
  };
  if (scheme === 'http') return requestHttp(options);
  // The name in the URL, regardless of the header Host.
  return requestHttps({ ...options, rejectUnauthorized: false, servername: isIP(host) ? '' : host });
};

/** Cancels a connection that is not established in time. Returns a function that stops the timers. */
const limitDial = (
  request: ClientRequest,
  { dialMs, tlsHandshakeMs }: Required<HttpRequestLimits>,
  giveUp: (detail: string) => void,
): (() => void) => {
  let timer = setTimeout(() => giveUp('dial tcp: i/o timeout'), dialMs);
  const stop = () => clearTimeout(timer);
  request.on('close', stop);
  request.on('socket', (socket) => {
    socket.on('connect', () => {
      stop();
      if (!('encrypted' in socket)) return;
      timer = setTimeout(() => giveUp('net/http: TLS handshake timeout'), tlsHandshakeMs);
      socket.on('secureConnect', stop);
    });
  });
  return stop;
};

/** The next request of a redirect; undefined for other responses. */
const redirectOf = (
  from: HttpGetRequest,
  { statusCode, headers }: IncomingMessage,
): HttpGetRequest | Error | undefined => {
  const { location } = headers;
  if (!REDIRECTS.has(statusCode) || !location) return undefined;
  if (!URL.canParse(location, urlOf(from))) {
    return new Error(`failed to parse Location header ${JSON.stringify(location)}`);
  }
  const { protocol, hostname, port, pathname, search, host } = new URL(location, urlOf(from));
  const scheme = protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') return new Error(`unsupported protocol scheme "${scheme}"`);
  return {
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
  response: IncomingMessage,
  maxBodyBytes: number,
  subscriber: Subscriber<HttpGetAnswer>,
  fail: (detail: string, cause: unknown) => void,
): void => {
  const chunks: Buffer[] = [];
  let length = 0;
  const end = () => {
    const body = Buffer.concat(chunks).subarray(0, maxBodyBytes).toString('utf8');
    subscriber.next({ status: response.statusCode ?? 0, body });
    subscriber.complete();
  };
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    chunks.push(chunk);
    if (length >= maxBodyBytes) end();
  });
  response.on('end', end);
  response.on('error', (error) => fail('unexpected EOF', error));
};
