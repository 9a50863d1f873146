import { type MonoTypeOperatorFunction, retry, type SchedulerLike, throwError, timeout, timer } from 'rxjs';
import { reviewRetryMs } from '../../model/server/review-retry.js';
import type { Random } from '../ports/random.js';

/** The time limit of a review with its retries. */
export const REVIEW_TIMEOUT_MS = 30_000;

export interface ReviewTiming {
  readonly scheduler: SchedulerLike;
  readonly random: Random;
}

/**
 * Repeats a review that failed for a reason that may pass: at most five attempts, with waits from 500 ms on. The review is
 * cancelled after 30 s.
 *
 * Errors: that of the last attempt; there was no answer in time.
 * Source: cmd/kubelet/app/auth.go WebhookRetryBackoff, apiserver/pkg/authentication/token/cache
 */
export const retryReview =
  <T>({ scheduler, random }: ReviewTiming): MonoTypeOperatorFunction<T> =>
  (source) =>
    source.pipe(
      retry({
        delay: (error: unknown, failures) => {
          const waitMs = reviewRetryMs(error, failures, random());
          return waitMs === undefined ? throwError(() => error) : timer(waitMs, scheduler);
        },
      }),
      timeout({ first: REVIEW_TIMEOUT_MS, scheduler }),
    );
