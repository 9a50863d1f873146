import { renewalDelay } from './renewal-delay.js';

/** The renewal of one certificate, from one read of it to the next. */
export interface Renewal {
  /** The failed attempts in a row to get a certificate that is not due at once. */
  readonly failures: number;
  /** The fingerprint of the certificate that `draw` belongs to; empty without one. */
  readonly fingerprint: string;
  /** In [0, 1), the same for each read of a certificate. */
  readonly draw: number;
  /** The time from the end of a round to the next read, in milliseconds. */
  readonly waitMs: number;
}

export const FIRST_RENEWAL: Renewal = { failures: 0, fingerprint: '', draw: 0, waitMs: 0 };

/** After a read of a certificate that is due in `leftMs`, or was due then; the next read is after `longestMs` at the latest. */
export const afterReading = (before: Renewal, leftMs: number, longestMs: number): Renewal => ({
  ...before,
  waitMs: Math.min(Math.max(leftMs, 0), longestMs),
  failures: leftMs > 0 ? 0 : before.failures,
});

/** After one more failure. `draw` in [0, 1) makes the wait longer. Undefined: the next attempt runs at once, since there may be other credentials. */
export const afterFailure = (before: Renewal, draw: number | undefined): Renewal => {
  const failures = before.failures + 1;
  return { ...before, failures, waitMs: draw === undefined ? 0 : renewalDelay(failures, draw) };
};
