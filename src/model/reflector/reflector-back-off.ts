import { type Backoff, nextDelay } from '../values/back-off.js';

/** The waits before the next request to the server. `resetAfterMs` counts from the time at which the waits began to grow. */
export const BACKOFF = { initialMs: 800, maxMs: 30_000, jitter: 1, resetAfterMs: 120_000 } satisfies Backoff;

export interface ReflectorBackOff {
  /** The waits since then. */
  readonly waits: number;
  /** The time at which the waits began to grow, in the scheduler's milliseconds. */
  readonly since: number;
}

export const startBackOff = (now: number): ReflectorBackOff => ({ waits: 0, since: now });

/**
 * The next wait, in milliseconds. `random` is in [0, 1).
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/util/wait/backoff.go backoffManager.Step, client-go tools/cache/reflector.go
 */
export const nextWait = (
  backOff: ReflectorBackOff,
  now: number,
  random: number,
): { readonly delayMs: number; readonly backOff: ReflectorBackOff } => {
  const { waits, since } = now - backOff.since > BACKOFF.resetAfterMs ? startBackOff(now) : backOff;
  return { delayMs: nextDelay(BACKOFF, waits + 1, random), backOff: { waits: waits + 1, since } };
};
