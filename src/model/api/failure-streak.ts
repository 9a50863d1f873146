import type { ReflectorProblem } from './reflector-event.js';

/** What has been said aloud of failures since things last worked. */
export type FailureStreak = ReadonlySet<string>;

export const NO_FAILURES: FailureStreak = new Set();

/** So many different failures are said in a row; whatever else goes wrong then is no news. */
export const FAILURES_SAID = 8;

/** How loudly to say one more failure: one that has been said is told at `debug`. */
export const foldFailure = (
  said: FailureStreak,
  text: string,
  severity: ReflectorProblem['severity'],
): { readonly said: FailureStreak; readonly severity: ReflectorProblem['severity'] } => {
  if (severity === 'debug') return { said, severity };
  if (said.has(text) || said.size >= FAILURES_SAID) return { said, severity: 'debug' };
  return { said: new Set([...said, text]), severity };
};
