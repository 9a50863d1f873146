import { defer, map } from 'rxjs';
import type { TokenVerdict } from '../../model/server/authenticate.js';
import { readTokenReview, TOKEN_REVIEWS_PATH, tokenReview } from '../../model/server/token-review.js';
import { reuseByKey } from '../operators/reuse-by-key.js';
import type { ApiServer } from '../ports/api-server.js';
import type { AuthenticateToken } from '../ports/authenticate-token.js';
import { retryReview, type ReviewTiming } from './retry-review.js';

export interface TokenReviewOptions extends ReviewTiming {
  readonly api: Pick<ApiServer, 'request'>;
  /** `authentication.webhook.cacheTTL`: the time for which a verdict is kept, whether good or bad. */
  readonly cacheTtlMs: number;
  /** The key of a token in the cache, so that the cache holds no tokens. */
  readonly digest: (token: string) => string;
}

/** The most verdicts and answers that are kept. */
export const MOST_REVIEWS = 8_192;

/**
 * Makes the review of tokens by the API server. Verdicts are kept, errors are not; requests with the same token share one
 * review.
 *
 * Source: staging/src/k8s.io/apiserver/pkg/authentication/token/cache/cached_token_authenticator.go
 */
export const reviewTokens = ({ api, cacheTtlMs, digest, ...timing }: TokenReviewOptions): AuthenticateToken => {
  const reused = reuseByKey<TokenVerdict>({
    lifetimeMs: () => cacheTtlMs,
    most: MOST_REVIEWS,
    scheduler: timing.scheduler,
  });
  return (token) =>
    defer(() => api.request({ method: 'POST', path: TOKEN_REVIEWS_PATH, body: tokenReview(token) })).pipe(
      retryReview(timing),
      map(readTokenReview),
      reused(digest(token)),
    );
};
