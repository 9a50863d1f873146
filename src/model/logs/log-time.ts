const RFC3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?(Z|[+-]\d\d:[0-5]\d)$/;

/** Returns a time in RFC 3339 as Unix nanoseconds; undefined for any other text. Digits after the ninth do not count. */
export const logInstant = (text: string): bigint | undefined => {
  const [, seconds, fraction = '', zone] = RFC3339.exec(text) ?? [];
  if (seconds === undefined || zone === undefined) return undefined;
  const milliseconds = Date.parse(`${seconds}${zone}`);
  // Such as for a zone beyond 24 hours.
  if (Number.isNaN(milliseconds)) return undefined;
  return BigInt(milliseconds) * 1_000_000n + BigInt(nineDigits(fraction));
};

/**
 * Returns the time of a line as it stands before the line: with nine digits of a second, in its own time zone.
 *
 * Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go timeFormatOut
 */
export const logTimestamp = (text: string): string =>
  text.replace(RFC3339, (_, seconds: string, fraction: string | undefined, zone: string) => {
    const offset = /^[+-]00:00$/.test(zone) ? 'Z' : zone;
    return `${seconds}.${nineDigits(fraction ?? '')}${offset}`;
  });

const nineDigits = (fraction: string): string => fraction.slice(0, 9).padEnd(9, '0');

/**
 * Returns the Unix nanoseconds before which lines are left out; undefined if all are wanted. `now` is Unix milliseconds.
 *
 * Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go NewLogOptions
 */
export const sinceInstant = (
  { sinceSeconds, sinceTime }: { readonly sinceSeconds?: number; readonly sinceTime?: string },
  now: number,
): bigint | undefined => {
  if (sinceSeconds !== undefined) return BigInt(Math.trunc(now - sinceSeconds * 1_000)) * 1_000_000n;
  return sinceTime === undefined ? undefined : logInstant(sinceTime);
};
