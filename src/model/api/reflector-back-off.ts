/** A wait before the server is asked again; doubles up to `REFLECTOR_MAX_MS`. */
export const REFLECTOR_INITIAL_MS = 800;
export const REFLECTOR_MAX_MS = 30_000;
/** So long after it began to grow, the wait starts over: a server that stays away is looked for anew. */
export const REFLECTOR_RESET_MS = 120_000;

export interface ReflectorBackOff {
  /** Of the next wait, before chance makes it up to twice as long. */
  readonly baseMs: number;
  /** When it began to grow, in the scheduler's milliseconds. */
  readonly since: number;
}

export const startBackOff = (now: number): ReflectorBackOff => ({ baseMs: REFLECTOR_INITIAL_MS, since: now });

/**
 * The next wait. `random` in [0, 1).
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/util/wait/backoff.go backoffManager.Step, client-go tools/cache/reflector.go
 */
export const nextDelay = (
  backOff: ReflectorBackOff,
  now: number,
  random: number,
): { readonly delayMs: number; readonly backOff: ReflectorBackOff } => {
  const { baseMs, since } = now - backOff.since > REFLECTOR_RESET_MS ? startBackOff(now) : backOff;
  return {
    delayMs: baseMs * (1 + random),
    backOff: { baseMs: Math.min(2 * baseMs, REFLECTOR_MAX_MS), since },
  };
};
