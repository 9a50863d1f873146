import type { TokenPurpose } from '../../model/references/token-request.js';
import type { Observable } from 'rxjs';

export interface PodToken {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/**
 * Emits a valid token of a service account for a pod, the same as before while that is fresh, and completes. A caller that mounts it
 * into a container has to call again before it expires. Errors: there is no valid token, and the request for one failed.
 */
export type RequestPodToken = (purpose: TokenPurpose) => Observable<PodToken>;
