import type { Observable } from 'rxjs';

/** A request for the log of a container, by the names of the API. */
export interface PodLogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly query: URLSearchParams;
  /** Completes when the client can take more. */
  readonly ready: () => Observable<unknown>;
}

/** `refused` comes alone; `accepted` comes before the output, which may take long. */
export type PodLogReply =
  | { readonly kind: 'refused'; readonly status: number; readonly text: string }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'output'; readonly bytes: Uint8Array };

/**
 * Emits the reply to a request. Errors: the output was broken off, and is not complete. Ends: with the reply.
 */
export type ReadPodLog = (request: PodLogRequest) => Observable<PodLogReply>;
