/** How many may go on at once, and how many more each second. */
export interface TokenRate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TokenBucket {
  /** Below zero when tokens were promised that are not there yet. */
  readonly tokens: number;
  /** When so many were in it, milliseconds. */
  readonly at: number;
}

const refilled = (bucket: TokenBucket | undefined, now: number, { perSecond, burst }: TokenRate): number =>
  bucket ? Math.min(burst, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond) : burst;

/** Takes a token if there is a whole one at `now` (ms). A bucket begins full: `undefined`. */
export const takeToken = (
  bucket: TokenBucket | undefined,
  now: number,
  rate: TokenRate,
): { readonly isTaken: boolean; readonly bucket: TokenBucket } => {
  const tokens = refilled(bucket, now, rate);
  const isTaken = tokens >= 1;
  return { isTaken, bucket: { tokens: isTaken ? tokens - 1 : tokens, at: now } };
};

/**
 * Takes the next token there will be, and says for how many milliseconds from `now` it is still to come: whoever asks first is
 * served first. A bucket begins full: `undefined`.
 */
export const reserveToken = (
  bucket: TokenBucket | undefined,
  now: number,
  rate: TokenRate,
): { readonly waitMs: number; readonly bucket: TokenBucket } => {
  const tokens = refilled(bucket, now, rate) - 1;
  return { waitMs: tokens >= 0 ? 0 : (-tokens / rate.perSecond) * 1_000, bucket: { tokens, at: now } };
};
