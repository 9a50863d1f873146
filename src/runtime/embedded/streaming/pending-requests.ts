import { status } from '@grpc/grpc-js';
import type { SchedulerLike } from 'rxjs';
import { RuntimeError } from '../runtime-error.js';

/** The time for which a URL is valid. */
export const TOKEN_MS = 60_000;
/** The limit of URLs that no client has used yet. */
const PENDING_MAX = 1_000;
/** Six bytes are eight characters of base64. */
const TOKEN_BYTES = 6;

/**
 * Requests that wait for their client, by a token that is valid once. A token is a secret: it is all that a client
 * has to show. Source: k8s.io/kubelet/pkg/cri/streaming/request_cache.go
 */
export class PendingRequests<Request> {
  private readonly requests = new Map<string, { readonly request: Request; readonly endMs: number }>();

  constructor(
    private readonly random: (bytes: number) => Buffer,
    private readonly scheduler: Pick<SchedulerLike, 'now'>,
  ) {}

  /** A new token. Errors: RESOURCE_EXHAUSTED. */
  add(request: Request): string {
    this.forgetOld();
    if (this.requests.size >= PENDING_MAX)
      throw new RuntimeError(status.RESOURCE_EXHAUSTED, 'maximum number of in-flight requests exceeded');
    for (;;) {
      const token = this.random(TOKEN_BYTES).toString('base64url');
      if (this.requests.has(token)) continue;
      this.requests.set(token, { request, endMs: this.scheduler.now() + TOKEN_MS });
      return token;
    }
  }

  /** The request of a token, which is invalid from now on; undefined for a token that is unknown, used or too old. */
  take(token: string): Request | undefined {
    this.forgetOld();
    const found = this.requests.get(token);
    this.requests.delete(token);
    return found?.request;
  }

  /** The oldest are first. */
  private forgetOld(): void {
    for (const [token, { endMs }] of this.requests) {
      if (endMs > this.scheduler.now()) return;
      this.requests.delete(token);
    }
  }
}
