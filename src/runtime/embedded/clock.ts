const startedAt = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();
let last = 0n;

/** Unix nanoseconds, never the same twice: later calls give greater values. */
export const nowNs = (): bigint => {
  const now = startedAt + process.hrtime.bigint();
  last = now > last ? now : last + 1n;
  return last;
};

/** Unix nanoseconds of the wall clock, which an administrator may have set; for times that people read. */
export const wallClockNs = (): bigint => BigInt(Date.now()) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n);

/** Waits; the timer does not keep the process alive by itself. */
export const delayMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
