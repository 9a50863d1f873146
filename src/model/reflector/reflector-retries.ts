import { type FailureStreak, foldFailure, NO_FAILURES } from '../kube-api/failure-streak.js';
import { nextWait, type ReflectorBackOff, startBackOff } from './reflector-back-off.js';
import type { ReflectorProblem } from './reflector-event.js';

/** The waits before requests that follow failures, and the failures that were reported since the last success. */
export interface ReflectorRetries {
  readonly backOff: ReflectorBackOff;
  /** The least wait before the next request, in milliseconds: the server asks for it. */
  readonly retryAfterMs: number;
  readonly said: FailureStreak;
}

/** Begins at `now`, the scheduler's milliseconds. */
export const startRetries = (now: number): ReflectorRetries => ({
  backOff: startBackOff(now),
  retryAfterMs: 0,
  said: NO_FAILURES,
});

/** The next wait, in milliseconds. `random` is in [0, 1). */
export const nextRetry = (
  retries: ReflectorRetries,
  now: number,
  random: number,
): { readonly delayMs: number; readonly retries: ReflectorRetries } => {
  const { delayMs, backOff } = nextWait(retries.backOff, now, random);
  return {
    delayMs: Math.max(delayMs, retries.retryAfterMs),
    retries: { ...retries, backOff, retryAfterMs: 0 },
  };
};

export interface RetryFailure {
  /** Equal for failures of which one report is enough. */
  readonly text: string;
  readonly severity: ReflectorProblem['severity'];
  /** The least wait that the server asks for, in milliseconds; absent if the failure says nothing about it. */
  readonly retryAfterMs?: number | undefined;
}

/** Takes a failure, and returns the severity of its report. */
export const retryFailed = (
  retries: ReflectorRetries,
  { text, severity: asSuch, retryAfterMs = retries.retryAfterMs }: RetryFailure,
): { readonly severity: ReflectorProblem['severity']; readonly retries: ReflectorRetries } => {
  const { said, severity } = foldFailure(retries.said, text, asSuch);
  return { severity, retries: { ...retries, said, retryAfterMs } };
};

/** A request has succeeded. The waits go on growing for a while: see `nextWait`. */
export const retrySucceeded = (retries: ReflectorRetries): ReflectorRetries => ({ ...retries, said: NO_FAILURES });
