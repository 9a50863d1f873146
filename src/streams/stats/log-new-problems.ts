import { type MonoTypeOperatorFunction, tap } from 'rxjs';
import { newProblems } from '../../model/stats/readings.js';
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
    const problems = sample?.problems ?? [];
    const { named, more } = newProblems(before, problems, MOST_AT_A_TIME);
    before = problems;
    for (const problem of named) log.warn({ problem }, 'a figure for metrics is not known');
    if (more > 0) log.warn({ count: more }, 'more figures for metrics are not known');
  });
};
