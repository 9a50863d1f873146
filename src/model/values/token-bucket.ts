/**
 * The rate of a token bucket: the number of tokens that it holds (`burst`), and the number that it gains each second.
 */
export interface TokenRate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TokenBucket {
  /** Below zero if tokens are reserved that the bucket does not hold yet. */
  readonly tokens: number;
  /** When the bucket held `tokens`, in milliseconds. */
  readonly at: number;
}

const refilled = (bucket: TokenBucket | undefined, now: number, { perSecond, burst }: TokenRate): number =>
  bucket ? Math.min(burst, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond) : burst;

/** Takes a token if the bucket holds a whole one at `now` (ms). `undefined` is a full bucket. */
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
 * Reserves the next token and returns the wait for it from `now`, in milliseconds. Callers are served in the order of
 * their calls. `undefined` is a full bucket.
 */
export const reserveToken = (
  bucket: TokenBucket | undefined,
  now: number,
  rate: TokenRate,
): { readonly waitMs: number; readonly bucket: TokenBucket } => {
  const tokens = refilled(bucket, now, rate) - 1;
  return { waitMs: tokens >= 0 ? 0 : (-tokens / rate.perSecond) * 1_000, bucket: { tokens, at: now } };
};
