/** Unix milliseconds as the API writes a time: RFC 3339 in UTC, whole seconds. */
export const toTimestamp = (milliseconds: number): string =>
  `${new Date(Math.floor(milliseconds / 1000) * 1000).toISOString().slice(0, -5)}Z`;
