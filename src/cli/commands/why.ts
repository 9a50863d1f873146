import { readJournal } from '../../journal/journal-reader.js';
import { explainWhy } from '../../model/why.js';
import { podsCalled, podsIn } from '../../model/why/find-pod.js';

/** Prints why a pod, or one of its containers, is in its state. Errors: the journal does not know it. */
export const printWhy = (journalDir: string, target: string, now: number): void => {
  const { entries, unreadable } = readJournal(journalDir);
  const { pod, container } = parseTarget(target);
  const lines = explainWhy({ entries, pod, ...(container === undefined ? {} : { container }), now });
  process.stdout.write(`${lines.join('\n')}\n`);
  if (unreadable > 0) process.stderr.write(`(${unreadable} lines of the journal in ${journalDir} cannot be read)\n`);
  if (podsCalled(podsIn(entries), pod).length === 0) process.exitCode = 1;
};

/** `POD` or `POD/CONTAINER`. No name of a pod has a slash in it. */
export const parseTarget = (target: string): { readonly pod: string; readonly container?: string } => {
  const [pod = '', container, more] = target.split('/');
  if (pod === '' || container === '' || more !== undefined) {
    throw new Error(
      `${JSON.stringify(target)} is no pod: expected POD or POD/CONTAINER, POD being name or name_namespace`,
    );
  }
  return container === undefined ? { pod } : { pod, container };
};
