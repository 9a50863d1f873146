import { type Backoff, nextDelay } from '../values/back-off.js';

export const BACKOFF: Backoff = { initialMs: 2_000, maxMs: 32_000, jitter: 0.1 };
/** The number of waits with jitter; every further wait is the longest one, without jitter. */
const GROWING_WAITS = 4;

/**
 * The wait after `failures` failed requests for a certificate in a row, in milliseconds: 2, 4, 8 and 16 s, up to a tenth longer, then
 * 32 s. `draw` is in [0, 1).
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_manager.go run
 */
export const renewalDelay = (failures: number, draw: number): number =>
  nextDelay(BACKOFF, failures, failures > GROWING_WAITS ? 0 : draw);
