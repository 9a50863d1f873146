import { readJournal } from '../../journal/journal-reader.js';
import { explainWhy } from '../../tools/why/why.js';
import { nodesIn, podsCalled, podsIn } from '../../tools/why/find-pod.js';
import { isAgentAlive, readAgentFile } from '../running-agent/agent-file.js';
import type { AgentPaths } from '../config/settings/agent-paths.js';

/** Prints why a pod, or one of its containers, is in its state. Errors: the pod is not in the journal. */
export const printWhy = ({ journalDir, agentFile }: AgentPaths, target: string, now: number): void => {
  const { entries, unreadable } = readJournal(journalDir);
  const { pod, container } = parseTarget(target);
  const agentRuns = isAgentAlive(readAgentFile(agentFile));
  const lines = explainWhy({ entries, pod, ...(container === undefined ? {} : { container }), now, agentRuns });
  const isKnown = podsCalled(podsIn(entries), pod, nodesIn(entries)).length > 0;
  (isKnown ? process.stdout : process.stderr).write(`${lines.join('\n')}\n`);
  if (unreadable > 0) process.stderr.write(`(${unreadable} lines of the journal in ${journalDir} cannot be read)\n`);
  if (!isKnown) process.exitCode = 1;
};

/** `POD` or `POD/CONTAINER`. The name of a pod contains no slash. */
export const parseTarget = (target: string): { readonly pod: string; readonly container?: string } => {
  const [pod = '', container, more] = target.split('/');
  if (pod === '' || container === '' || more !== undefined) {
    throw new Error(
      `${JSON.stringify(target)} is no pod: expected POD or POD/CONTAINER, POD being name or name_namespace`,
    );
  }
  return container === undefined ? { pod } : { pod, container };
};
