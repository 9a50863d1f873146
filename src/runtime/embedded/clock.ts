const startedAt = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();
let last = 0n;

/** Unix nanoseconds; every call returns a greater value. */
export const nowNs = (): bigint => {
  const now = startedAt + process.hrtime.bigint();
  last = now > last ? now : last + 1n;
  return last;
};

/** Unix nanoseconds of the wall clock, which an administrator may set; for times that users read. */
export const wallClockNs = (): bigint => BigInt(Date.now()) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n);

/** Waits without keeping the process alive. */
export const delayMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
