import type { ServerAddress } from './tcp-connect.js';
import type { Observable } from 'rxjs';

export interface HealthCheckRequest extends ServerAddress {
  /** Whether the connection is encrypted; the certificate is not verified. */
  readonly isTls: boolean;
  /** Empty for the server as a whole. */
  readonly service: string;
  /** The user agent of the request. */
  readonly userAgent: string;
  /** The time limit that the server receives, in milliseconds. The port itself does not enforce it. */
  readonly timeoutMs: number;
}

/** First `connected`, once the server speaks HTTP/2; then the name of the status, such as `SERVING`. */
export type HealthCheckProgress =
  { readonly kind: 'connected' } | { readonly kind: 'answered'; readonly status: string };

/**
 * Requests the health of a server by the gRPC protocol, over a new connection. Emits the connection and the answer,
 * and completes. Unsubscribing closes the connection at any stage. Errors: `HealthFailure` (src/model/probes/health-failure.ts).
 */
export type CheckHealth = (request: HealthCheckRequest) => Observable<HealthCheckProgress>;
