import { readJournal } from '../../journal/journal-reader.js';
import { explainWhy } from '../../tools/why/why.js';
import { describePod } from '../local/describe-pod.js';
import { containerTarget, findTarget } from '../local/find-container.js';
import { pathsFor } from '../arguments/prepare-run.js';

/** The flags of `describe`, as commander returns them. */
export interface DescribeFlags {
  readonly namespace?: string;
  readonly rootDir: string;
}

/** Prints a pod of the agent, with all of its containers or with one. Errors: no agent runs; there is no such pod or container. */
export const printDescription = async (target: string, flags: DescribeFlags, now: number): Promise<void> => {
  const { namespace, rootDir } = flags;
  const paths = pathsFor(rootDir);
  const { pod, container } = await findTarget(paths, { ...containerTarget(target, undefined), namespace });
  const { entries } = readJournal(paths.journalDir);
  const only = container === undefined ? {} : { container };
  const why = explainWhy({ entries, pod: pod.metadata.uid, ...only, now });
  process.stdout.write(`${describePod({ pod, ...only, entries, why, now }).join('\n')}\n`);
};
