export interface ApiErrorInit {
  /** The HTTP status of the reply, or the code of a Status in a watch; absent without a reply. */
  readonly code?: number;
  /** The `reason` of the Status, such as `NotFound` or `Expired`; empty if the reply has none. */
  readonly reason?: string;
  readonly message: string;
  /** The wait that the server requests with 429 and 503. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * A failed request to the API server: the server refused it (`code` is set), or the result is unknown because there was
 * no complete reply (`code` is absent).
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number | undefined;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;

  constructor({ code, reason = '', message, retryAfterSeconds, cause }: ApiErrorInit) {
    super(message, { cause });
    this.code = code;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const has = (error: unknown, code: number, ...reasons: readonly string[]): boolean =>
  error instanceof ApiError && (reasons.includes(error.reason) || (error.reason === '' && error.code === code));

export const isNotFound = (error: unknown): boolean => has(error, 404, 'NotFound');
export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'AlreadyExists';
export const isConflict = (error: unknown): boolean => has(error, 409, 'Conflict');
export const isForbidden = (error: unknown): boolean => has(error, 403, 'Forbidden');
export const isUnauthorized = (error: unknown): boolean => has(error, 401, 'Unauthorized');

/** The requested version is no longer kept: a list or watch has to begin again. */
export const isGone = (error: unknown): boolean => has(error, 410, 'Expired', 'Gone');

/** The server did not reply, so it is unknown whether it carried out the request. */
export const isUnanswered = (error: unknown): boolean => error instanceof ApiError && error.code === undefined;

/**
 * Whether the connection broke before the complete reply: the errors of Node.js for Go's `IsConnectionReset` and
 * `IsProbableEOF`.
 */
export const isConnectionLost = (error: unknown): boolean =>
  isUnanswered(error) && ['ECONNRESET', 'EPIPE'].includes(codeOf((error as ApiError).cause));

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
