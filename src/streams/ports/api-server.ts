import type { Observable } from 'rxjs';

/** One request to the API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path from the root, such as `/api/v1/namespaces/default/pods/web/status`; its parts are escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The type of the body; patches set it. Default: `application/json`. */
  readonly contentType?: string;
}

/** A watch; the adapter adds `watch=true` to `query`. */
export type ApiWatchRequest = Pick<ApiRequest, 'path' | 'query'>;

/** A message of a watch: `opened` once the server has answered with a stream, then one message for each line. */
export type ApiWatchMessage =
  | { readonly kind: 'opened' }
  | {
      readonly kind: 'event';
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
      /** The object; a Status for `ERROR`. */
      readonly object: unknown;
    };

/**
 * The Kubernetes API, as JSON. A request is sent on subscribe and aborted on unsubscribe. Retries and rate limits are operators over
 * this port (src/streams/cluster/api-client.ts).
 */
export interface ApiServer {
  /** Emits the body of a 2xx reply and completes. Errors: `ApiError` (src/model/kube-api/api-error.ts). */
  readonly request: (request: ApiRequest) => Observable<unknown>;
  /**
   * Emits while the stream lives and completes when the server ends it between two lines. Errors: `ApiError`, for a reply
   * that is no stream, for a connection that breaks and for a line that is not JSON; an `ERROR` of the stream is a message.
   */
  readonly watch: (request: ApiWatchRequest) => Observable<ApiWatchMessage>;
}
