import { ApiError } from './api-error.js';

/** A reply of the API server with an error status. */
export interface ApiFailure {
  readonly code: number;
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  /** The header Retry-After. */
  readonly retryAfter?: string;
  readonly body: string;
}

/** The number of quoted characters of a text that is not a Status. */
const QUOTED_CHARACTERS = 2_048;

/**
 * Returns the error of such a reply: the Status in its body, or the meaning of its code if the body has none, as with a
 * proxy in between.
 *
 * Source: staging/src/k8s.io/client-go/rest/request.go transformResponse, apimachinery/pkg/api/errors/errors.go
 * NewGenericServerResponse
 */
export const apiFailure = (failure: ApiFailure): ApiError => {
  const status = statusIn(failure.body);
  const header = /^\d+$/.test(failure.retryAfter ?? '') ? Number(failure.retryAfter) : undefined;
  const retryAfterSeconds = header ?? (status?.retryAfterSeconds || undefined);
  const generic = genericOf(failure);
  return new ApiError({
    code: status?.code || failure.code,
    reason: status ? (status.reason ?? '') : generic.reason,
    message: status?.message || `${generic.message} (${failure.method} ${failure.path})`,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
};

interface Status {
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** A field of a Status may have any type: a wait that is no number would be no wait. */
const statusIn = (body: string): Status | undefined => {
  try {
    const value = JSON.parse(body) as { readonly [field: string]: unknown } | null;
    if (value?.kind !== 'Status') return undefined;
    const { code, reason, message, details } = value;
    const { retryAfterSeconds } = (details ?? {}) as { readonly retryAfterSeconds?: unknown };
    return {
      code: numberIn(code),
      reason: textIn(reason),
      message: textIn(message),
      retryAfterSeconds: numberIn(retryAfterSeconds),
    };
  } catch {
    return undefined;
  }
};

const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const genericOf = ({ code, method, contentType, body }: ApiFailure): { reason: string; message: string } => {
  const isText = contentType === undefined || contentType === '' || /^text\//i.test(contentType);
  const said = isText ? body.trim().slice(0, QUOTED_CHARACTERS) : 'unknown';
  switch (code) {
    case 400:
      return { reason: 'BadRequest', message: 'the server rejected our request for an unknown reason' };
    case 401:
      return { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' };
    case 403:
      return { reason: 'Forbidden', message: said };
    case 404:
      return { reason: 'NotFound', message: 'the server could not find the requested resource' };
    case 405:
      return {
        reason: 'MethodNotAllowed',
        message: 'the server does not allow this method on the requested resource',
      };
    case 409:
      return { reason: method === 'POST' ? 'AlreadyExists' : 'Conflict', message: 'the server reported a conflict' };
    case 415:
      return { reason: 'UnsupportedMediaType', message: said };
    case 422:
      return { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' };
    case 429:
      return {
        reason: 'TooManyRequests',
        message: 'the server has received too many requests and has asked us to try again later',
      };
    case 503:
      return { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' };
    case 504:
      return {
        reason: 'Timeout',
        message:
          'the server was unable to return a response in the time allotted, but may still be processing the request',
      };
    default:
      return code >= 500
        ? {
            reason: 'InternalError',
            message: `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`,
          }
        : {
            reason: '',
            message: `the server responded with the status code ${code} but did not return more information`,
          };
  }
};
