import { parseGoDuration } from '../../model/values/go-duration.js';

/** A date in RFC 3339 or ISO 8601; without an offset it is in UTC. */
const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Returns the Unix milliseconds of a date, or of a duration before `now`, such as `10m`; `undefined` for any other
 * text.
 */
export const parseInstant = (text: string, now: number): number | undefined => {
  const duration = parseGoDuration(text);
  if (duration !== undefined) return duration < 0 ? undefined : now - duration;
  if (!DATE.test(text)) return undefined;
  const hasOffset = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(text) && text.length > 'yyyy-mm-dd'.length;
  const at = Date.parse(hasOffset || text.length === 'yyyy-mm-dd'.length ? text : `${text.replace(' ', 'T')}Z`);
  return Number.isNaN(at) ? undefined : at;
};
