/** How many may go on at once, and how many more each second. */
export interface TokenRate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TokenBucket {
  readonly tokens: number;
  /** When so many were in it, milliseconds. */
  readonly at: number;
}

/** Takes a token if there is a whole one at `now` (ms). A bucket begins full: `undefined`. */
export const takeToken = (
  bucket: TokenBucket | undefined,
  now: number,
  { perSecond, burst }: TokenRate,
): { readonly isTaken: boolean; readonly bucket: TokenBucket } => {
  const refilled = bucket ? Math.min(burst, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond) : burst;
  const isTaken = refilled >= 1;
  return { isTaken, bucket: { tokens: isTaken ? refilled - 1 : refilled, at: now } };
};
