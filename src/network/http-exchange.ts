import type { HttpGetRequest } from '../model/config/http-get.js';

export interface HttpRequestLimits {
  /** The limit for the TCP connection. Source: staging/src/k8s.io/apimachinery/pkg/util/net/http.go */
  readonly dialMs?: number;
  /** The limit from the connection to the end of the TLS handshake. */
  readonly tlsHandshakeMs?: number;
}

/** The head of a response, and its body on request. */
export interface HttpResponse {
  readonly status: number;
  readonly location: string | undefined;
  /** Reads the body. A body that is not complete fails. */
  readonly read: (reader: BodyReader) => void;
}

export interface BodyReader {
  readonly data: (chunk: Buffer) => void;
  readonly end: () => void;
  readonly fail: (error: unknown) => void;
}

export interface ExchangeEvents {
  readonly answer: (response: HttpResponse) => void;
  /** There is no response. A text is in the words of the kubelet's client. */
  readonly fail: (error: unknown) => void;
}

/**
 * Sends one request over a connection of its own. Returns a function that closes the connection; no event follows it.
 *
 * Errors: throws for header values that Node refuses before anything is sent.
 */
export type HttpExchange = (
  to: HttpGetRequest,
  limits: Required<HttpRequestLimits>,
  events: ExchangeEvents,
) => () => void;

/** The text of Go's client for a connection that is not established in time. */
export const DIAL_TIMEOUT = 'dial tcp: i/o timeout';
/** The limit for all headers of a response together, as in a client of Go. */
export const MAX_HEADER_BYTES = 10 * 1024 * 1024;
