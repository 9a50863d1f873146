import { defer, map } from 'rxjs';
import { ACCESS_REVIEWS_PATH, accessKey, accessReview, readAccessReview } from '../../model/server/access-review.js';
import { reuseByKey } from '../operators/reuse-by-key.js';
import type { ApiServer } from '../ports/api-server.js';
import type { AuthorizeAccess } from '../ports/authorize-access.js';
import { retryReview, type ReviewTiming } from './retry-review.js';
import { MOST_REVIEWS } from './review-tokens.js';

export interface AccessReviewOptions extends ReviewTiming {
  readonly api: Pick<ApiServer, 'request'>;
  /** `authorization.webhook.cacheAuthorizedTTL`. */
  readonly allowedTtlMs: number;
  /** `authorization.webhook.cacheUnauthorizedTTL`. */
  readonly deniedTtlMs: number;
}

/**
 * Makes the review of access by the API server. Answers are kept, errors are not; equal questions share one review.
 *
 * Source: staging/src/k8s.io/apiserver/plugin/pkg/authorizer/webhook/webhook.go
 */
export const reviewAccess = ({ api, allowedTtlMs, deniedTtlMs, ...timing }: AccessReviewOptions): AuthorizeAccess => {
  const reused = reuseByKey<boolean>({
    lifetimeMs: (isAllowed) => (isAllowed ? allowedTtlMs : deniedTtlMs),
    most: MOST_REVIEWS,
    scheduler: timing.scheduler,
  });
  return (question) => {
    const answer$ = defer(() =>
      api.request({ method: 'POST', path: ACCESS_REVIEWS_PATH, body: accessReview(question) }),
    ).pipe(retryReview(timing), map(readAccessReview));
    const key = accessKey(question);
    return key === undefined ? answer$ : answer$.pipe(reused(key));
  };
};
