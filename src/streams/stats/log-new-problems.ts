import { type MonoTypeOperatorFunction, tap } from 'rxjs';
import { textChanges } from '../../model/values/text-changes.js';
import type { Logger } from '../ports/logger.js';

/** A disk that fails has a problem for each file. */
const MOST_AT_A_TIME = 10;

/**
 * Logs the problems of a sample that the sample before did not have, ten at most: scrapers come every few seconds, and a
 * problem may last. The samples before count over all subscriptions.
 */
export const logNewProblems = <Sample extends { readonly problems: readonly string[] } | undefined>(
  log: Pick<Logger, 'warn'>,
): MonoTypeOperatorFunction<Sample> => {
  let before: readonly string[] = [];
  return tap((sample) => {
    // The parts of a sample may have the same problem.
    const problems = [...new Set(sample?.problems)];
    const { added } = textChanges(before, problems);
    before = problems;
    for (const problem of added.slice(0, MOST_AT_A_TIME)) log.warn({ problem }, 'a figure for metrics is not known');
    const more = added.length - MOST_AT_A_TIME;
    if (more > 0) log.warn({ count: more }, 'more figures for metrics are not known');
  });
};
