import { ApiError, isAlreadyExists, isUnanswered, isUnauthorized } from '../api/api-error.js';

/**
 * What a write that failed says. `nobody-writes`: no event can be written now, since nobody answered, or whoever did has too much to do,
 * has no server behind it, or does not know the agent until its credentials are renewed. `not-this-one`: the server has an error of its
 * own with this event, and may not have it later or with others. `refused`: it never takes this event.
 *
 * Source: staging/src/k8s.io/client-go/tools/record/event.go recordEvent, which gives up at whatever was answered
 */
export type WriteFailure = 'nobody-writes' | 'not-this-one' | 'refused';

const GENERAL = [429, 502, 503, 504];

export const writeFailure = (error: unknown): WriteFailure => {
  if (isUnanswered(error) || isUnauthorized(error)) return 'nobody-writes';
  const code = error instanceof ApiError ? (error.code ?? 0) : 0;
  if (GENERAL.includes(code)) return 'nobody-writes';
  return code >= 500 ? 'not-this-one' : 'refused';
};

/** Events that nobody misses: they are there already, or their namespace is about to go. */
export const isQuietRefusal = (error: unknown): boolean =>
  isAlreadyExists(error) || (error instanceof ApiError && error.message.includes('because it is being terminated'));
