import { ApiError, isConnectionLost } from '../kube-api/api-error.js';

/** The attempts of one review. */
const REVIEW_TRIES = 5;
export const REVIEW_RETRY_MS = 500;
const REVIEW_RETRY_FACTOR = 1.5;
/** The largest random addition to a wait, as a share of it. */
const REVIEW_RETRY_JITTER = 0.2;

/**
 * Returns the wait before the next attempt of a review after `failures` failed ones, in milliseconds; undefined if
 * another attempt is of no use. `draw` is in [0, 1).
 *
 * Source: cmd/kubelet/app/auth.go, staging/src/k8s.io/apiserver/pkg/util/webhook/webhook.go DefaultShouldRetry
 */
export const reviewRetryMs = (error: unknown, failures: number, draw: number): number | undefined =>
  failures < REVIEW_TRIES && mayPass(error)
    ? Math.round(REVIEW_RETRY_MS * REVIEW_RETRY_FACTOR ** (failures - 1) * (1 + draw * REVIEW_RETRY_JITTER))
    : undefined;

const mayPass = (error: unknown): boolean =>
  isConnectionLost(error) ||
  (error instanceof ApiError &&
    (['InternalError', 'Timeout', 'TooManyRequests'].includes(error.reason) || error.retryAfterSeconds !== undefined));
