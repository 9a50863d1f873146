import type { ReflectorProblem } from '../reflector/reflector-event.js';

/** The failures that were reported since the last success. */
export type FailureStreak = ReadonlySet<string>;

export const NO_FAILURES: FailureStreak = new Set();

/** The most different failures that are reported in a row; any further failure is logged at `debug`. */
const FAILURES_SAID = 8;

/** Returns the severity of one more failure: a failure that was reported already is `debug`. */
export const foldFailure = (
  said: FailureStreak,
  text: string,
  severity: ReflectorProblem['severity'],
): { readonly said: FailureStreak; readonly severity: ReflectorProblem['severity'] } => {
  if (severity === 'debug') return { said, severity };
  if (said.has(text) || said.size >= FAILURES_SAID) return { said, severity: 'debug' };
  return { said: new Set([...said, text]), severity };
};
