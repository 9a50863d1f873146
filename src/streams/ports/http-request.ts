import type { HttpGetAnswer, HttpGetRequest } from '../../model/config/http-get.js';
import type { Observable } from 'rxjs';

export interface HttpRequestOptions {
  /** The time limit of connection, redirects, headers and body together. Default: no limit. */
  readonly timeoutMs?: number;
  /** The number of bytes of the body that are read at most. */
  readonly maxBodyBytes: number;
}

/**
 * Sends one GET to a server that a pod names, emits the answer of any status, and completes. Unsubscribing aborts it. Certificates
 * are not verified, there is no proxy, a connection is used once, and redirects are followed within the host of the request.
 *
 * Errors: `HttpFailure` (src/model/config/http-failure.ts).
 * Source: pkg/probe/http/http.go
 */
export type HttpRequest = (request: HttpGetRequest, options: HttpRequestOptions) => Observable<HttpGetAnswer>;
