import { ApiError, isAlreadyExists, isUnanswered, isUnauthorized } from '../kube-api/api-error.js';

/**
 * The kind of a failed write. `unavailable`: no event can be written now, since the server did not reply, is
 * overloaded, has no server behind it, or does not accept the agent until its credentials are renewed. `not-this-one`:
 * the server has an internal error with this event, and may accept it later, or accept others. `refused`: it never
 * accepts this event.
 *
 * Source: staging/src/k8s.io/client-go/tools/record/event.go recordEvent, which gives up after any reply
 */
export type WriteFailure = 'unavailable' | 'not-this-one' | 'refused';

const GENERAL = [429, 502, 503, 504];

export const writeFailure = (error: unknown): WriteFailure => {
  if (isUnanswered(error) || isUnauthorized(error)) return 'unavailable';
  const code = error instanceof ApiError ? (error.code ?? 0) : 0;
  if (GENERAL.includes(code)) return 'unavailable';
  return code >= 500 ? 'not-this-one' : 'refused';
};

/** Refused events that are not missed: the API has them already, or their namespace is being deleted. */
export const isQuietRefusal = (error: unknown): boolean =>
  isAlreadyExists(error) || (error instanceof ApiError && error.message.includes('because it is being terminated'));
