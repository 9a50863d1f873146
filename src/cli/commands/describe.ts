import { readJournal } from '../../journal/journal-reader.js';
import { explainWhy } from '../../tools/why/why.js';
import { describePod } from '../local/describe-pod.js';
import { findPod } from '../local/find-container.js';
import { pathsFor } from '../arguments/prepare-run.js';

/** The flags of `describe`, as commander returns them. */
export interface DescribeFlags {
  readonly namespace?: string;
  readonly rootDir: string;
}

/** Prints a pod of the agent. Errors: no agent runs; there is no such pod. */
export const printDescription = async (target: string, flags: DescribeFlags, now: number): Promise<void> => {
  const { namespace, rootDir } = flags;
  const paths = pathsFor(rootDir);
  const pod = await findPod(paths, { pod: target, namespace });
  const { entries } = readJournal(paths.journalDir);
  const why = explainWhy({ entries, pod: pod.metadata.uid, now });
  process.stdout.write(`${describePod({ pod, entries, why, now }).join('\n')}\n`);
};
