import { ApiError, isAlreadyExists, isUnanswered, isUnauthorized } from '../api/api-error.js';

/**
 * Whether an event that could not be written is worth another try. Nobody answered; or whoever answered cannot do it now: an error of
 * the server's own, too many requests, or credentials that are about to be replaced. Of these the kubelet only knows the first.
 *
 * Source: staging/src/k8s.io/client-go/tools/record/event.go recordEvent
 */
export const isWorthAnotherTry = (error: unknown): boolean =>
  isUnanswered(error) ||
  isUnauthorized(error) ||
  (error instanceof ApiError && error.code !== undefined && (error.code === 429 || error.code >= 500));

/** Events that nobody misses: they are there already, or their namespace is about to go. */
export const isQuietRefusal = (error: unknown): boolean =>
  isAlreadyExists(error) || (error instanceof ApiError && error.message.includes('because it is being terminated'));
