import type { JournalEntry } from '../../model/journal/journal.js';

export type ConfigProblem = Extract<JournalEntry, { readonly kind: 'config-problem' }>;

/** The open problems of the sources of pods, by place, each in the order of their messages. */
export type OpenProblems = ReadonlyMap<string, readonly ConfigProblem[]>;

export const placeOf = ({ source, from }: { readonly source: string; readonly from?: string }): string =>
  `${source} ${from ?? ''}`;

/**
 * The same while it changes: a source may report thousands of them, and copying each time would take quadratic time.
 */
export type ChangingProblems = Map<string, ConfigProblem[]>;

/** Applies an entry of the journal to the open problems. An agent that starts reads every source again. */
export const noteProblem = (open: ChangingProblems, entry: JournalEntry): void => {
  switch (entry.kind) {
    case 'agent-started':
      return open.clear();
    case 'config-problem': {
      const place = placeOf(entry);
      const before = entry.continues ? open.get(place) : undefined;
      if (before) before.push(entry);
      else open.set(place, [entry]);
      return;
    }
    case 'config-recovered':
      open.delete(placeOf(entry));
      return;
    case 'source-heard':
      // Before that the source itself may have failed; the problems of its places stay.
      open.delete(placeOf({ source: entry.source }));
      return;
    default:
      return;
  }
};

/** Returns the problems that are open after these entries of the journal, oldest first. */
export const openProblems = (entries: readonly JournalEntry[]): OpenProblems => {
  const open: ChangingProblems = new Map();
  for (const entry of entries) noteProblem(open, entry);
  return open;
};

/**
 * Returns the problems to repair. A message about unchanged pods only follows from another problem, so it counts only
 * without one.
 */
export const toRepair = (problems: readonly ConfigProblem[]): readonly ConfigProblem[] => {
  const own = problems.filter(({ keeps }) => keeps === undefined);
  return own.length > 0 ? own : problems;
};
