import { ApiError, isUnanswered } from '../kube-api/api-error.js';

/**
 * No process listens at the API server's address: it will be back, and the known objects stay valid. Source:
 * apimachinery util/net.
 */
export const isConnectionRefused = (error: unknown): boolean => isUnanswered(error) && hasCode(error, 'ECONNREFUSED');

/** An attempt at several addresses fails with all of their errors. */
const hasCode = (error: unknown, code: string): boolean => {
  if (typeof error !== 'object' || error === null) return false;
  const { code: own, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  if (own === code) return true;
  return (
    hasCode(cause, code) || (Array.isArray(errors) && errors.length > 0 && errors.every((one) => hasCode(one, code)))
  );
};

/** The server is overloaded. */
export const isTooManyRequests = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 429 || error.reason === 'TooManyRequests');

/** The server does not know the requested version yet, and perhaps never will: its data may have been restored. */
export const isTooLargeResourceVersion = (error: unknown): boolean =>
  error instanceof ApiError && error.code !== undefined && error.message.includes('Too large resource version');

/** Returns the error of a `Status` in an `ERROR` of a watch. Source: apimachinery pkg/api/errors FromObject. */
export const statusError = (status: unknown): ApiError => {
  const { code, reason, message, details } = (typeof status === 'object' && status !== null ? status : {}) as {
    readonly code?: unknown;
    readonly reason?: unknown;
    readonly message?: unknown;
    readonly details?: { readonly retryAfterSeconds?: unknown } | null;
  };
  const retryAfterSeconds = details?.retryAfterSeconds;
  return new ApiError({
    code: typeof code === 'number' ? code : 500,
    reason: typeof reason === 'string' ? reason : '',
    message: typeof message === 'string' && message !== '' ? message : `the watch ended with ${JSON.stringify(status)}`,
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
  });
};
