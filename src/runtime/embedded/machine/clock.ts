import { type Backoff, nextDelay } from '../../../model/values/back-off.js';

/** A clock that goes back by less is being slowed down, and by more it was set; nanoseconds. */
const SET_BACK_NS = 1_000_000_000n;
let last = 0n;

/**
 * Unix nanoseconds by the wall clock of the moment, wherever it was set since the last call. Every call returns a greater value, except for
 * the first one after the clock was set back.
 */
export const nowNs = (): bigint => {
  const now = BigInt(Date.now()) * 1_000_000n;
  last = now > last || last - now > SET_BACK_NS ? now : last + 1n;
  return last;
};

/** Unix nanoseconds of the wall clock, for times that are not compared; finer than `nowNs`. */
export const wallClockNs = (): bigint => BigInt(Date.now()) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n);

/** Waits without keeping the process alive. */
export const delayMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const CHECKS: Backoff = { initialMs: 1, maxMs: 50 };

/** The wait between two checks of processes or cgroups that are about to end, in milliseconds; the first check has the number 1. */
export const checkDelayMs = (check: number): number => nextDelay(CHECKS, check);
