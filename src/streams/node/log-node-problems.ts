import { textChanges } from '../../model/values/text-changes.js';
import type { Logger } from '../ports/logger.js';

/** Receives the problems of each update of the Node. */
export type LogNodeProblems = (problems: readonly string[]) => void;

/** Logs each problem when it begins and when it is over: the Node is updated every ten seconds, and a problem may last. */
export const logNodeProblems = (node: string, log: Pick<Logger, 'error' | 'info'>): LogNodeProblems => {
  let before: readonly string[] = [];
  return (problems) => {
    const { added, removed } = textChanges(before, problems);
    for (const problem of added) log.error({ node, problem }, 'a part of the Node is left out');
    for (const problem of removed) log.info({ node, problem }, 'a problem of the Node is over');
    before = problems;
  };
};
