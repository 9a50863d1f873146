import type { JournalEntry, JournalRecord } from '../../model/journal/journal.js';
import {
  type ChangingProblems,
  noteProblem,
  openProblems,
  type OpenProblems,
  toRepair,
} from '../../tools/why/open-problems.js';

/** The manifests that cannot be used, until they are repaired. */
export interface RefusedManifests {
  /** Has to be called with every record. */
  readonly observe: (record: JournalRecord) => void;
  /** The number of refused files or URLs, and of sources that cannot be read at all. */
  readonly count: () => number;
  /** Their problems, one line each. */
  readonly lines: () => readonly string[];
}

export const refusedManifests = (): RefusedManifests => {
  const open: ChangingProblems = new Map();
  return {
    observe: (record) => noteProblem(open, { ...record, id: '', at: 0 }),
    count: () => open.size,
    lines: () => refusedLines(open),
  };
};

/** The same for the journal of another process. */
export const refusedIn = (entries: readonly JournalEntry[]): readonly string[] => refusedLines(openProblems(entries));

const refusedLines = (open: OpenProblems): readonly string[] =>
  [...open.values()].flatMap(toRepair).map(({ problem }) => problem);
