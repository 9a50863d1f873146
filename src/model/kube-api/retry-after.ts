import { ApiError, isConnectionLost } from './api-error.js';

/**
 * Returns the milliseconds after which a failed request should be sent again; undefined if it should not.
 * `mayRetryLost`: it may be repeated although it may have been carried out.
 *
 * Source: staging/src/k8s.io/client-go/rest/with_retry.go checkWait, IsNextRetry
 */
export const retryAfterMs = (error: unknown, mayRetryLost: boolean): number | undefined => {
  if (mayRetryLost && isConnectionLost(error)) return LOST_RETRY_MS;
  if (!(error instanceof ApiError) || error.retryAfterSeconds === undefined) return undefined;
  return error.code === 429 || (error.code ?? 0) >= 500
    ? Math.min(error.retryAfterSeconds * 1_000, LONGEST_TIMER_MS)
    : undefined;
};

export const LOST_RETRY_MS = 1_000;

/** A longer timer of Node.js ends at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
