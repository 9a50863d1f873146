export interface ApiErrorInit {
  /** HTTP status of the reply, or the code of a Status in a watch; absent when there was no reply. */
  readonly code?: number;
  /** `reason` of the Status, such as `NotFound` or `Expired`; empty where the reply has none. */
  readonly reason?: string;
  readonly message: string;
  /** What the server asks for with 429 and 503. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * A request to the API server that did not succeed: the server said no (`code` is there), or nothing is known of the outcome
 * because there was no whole reply (`code` is absent).
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

/** What was asked for is no longer kept: a list or watch has to begin anew. */
export const isGone = (error: unknown): boolean => has(error, 410, 'Expired', 'Gone');

/** Nobody answered, so whether the request was carried out is unknown. */
export const isUnanswered = (error: unknown): boolean => error instanceof ApiError && error.code === undefined;

/** The connection broke before the whole reply was there: what Node.js calls that, as Go's `IsConnectionReset` and `IsProbableEOF`. */
export const isConnectionLost = (error: unknown): boolean =>
  isUnanswered(error) && ['ECONNRESET', 'EPIPE'].includes(codeOf((error as ApiError).cause));

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
