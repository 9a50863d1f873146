const FIRST_MS = 2_000;
const GROWTH = 2;
/** So many waits grow; every further one is as long as one more would be. */
const GROWING_WAITS = 4;
const LONGEST_MS = 32_000;
/** A growing wait is up to so much longer. */
const JITTER = 0.1;

/**
 * Milliseconds to wait after so many attempts in a row that brought no certificate: 2, 4, 8 and 16 s, up to a tenth longer, then 32 s.
 * `draw` is in [0, 1).
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_manager.go run
 */
export const renewalDelay = (failures: number, draw: number): number =>
  failures > GROWING_WAITS ? LONGEST_MS : FIRST_MS * GROWTH ** (failures - 1) * (1 + JITTER * draw);
