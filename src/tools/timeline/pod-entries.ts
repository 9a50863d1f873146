import type { JournalEntry } from '../../model/journal/journal.js';
import { describeEntry } from '../why/describe-entry.js';
import type { EntryOf } from '../why/pod-story.js';
import type { Mark } from './lanes.js';
import type { Observed } from './observations.js';
import type { Routine } from './routine-entries.js';

/** The input of the lanes of one pod. */
export interface PodEntries {
  /** The entries about the pod, oldest first. */
  readonly own: readonly JournalEntry[];
  /** The runs of the agent, of which `own` is a part; the last one may still go on. */
  readonly runs: readonly AgentRun[];
  readonly routine: Routine;
  /** Further facts from a recording; empty without one. */
  readonly observed: Observed;
  /** The end of the timeline; spans without an earlier end are open. */
  readonly until: number;
}

export interface AgentRun {
  readonly from: number;
  /** The end of the agent, if known. */
  readonly until: number;
}

export const entriesOfKind = <Kind extends JournalEntry['kind']>(
  entries: readonly JournalEntry[],
  kind: Kind,
): readonly EntryOf<Kind>[] => entries.filter((entry): entry is EntryOf<Kind> => entry.kind === kind);

/** The fields that a mark copies from its entry. */
export const markOf = (
  entry: JournalEntry,
  rest: Omit<Mark, 'id' | 'at' | 'text' | 'entry' | 'causes'> & Partial<Pick<Mark, 'id' | 'at' | 'text'>>,
): Mark => ({
  id: entry.id,
  at: entry.at,
  text: describeEntry(entry) ?? rest.label,
  entry: entry.id,
  causes: entry.causes,
  ...rest,
});

/** The end of a span that began in this run of the agent and that the agent itself would have ended. */
export const endOfRun = (
  at: number,
  { runs, until }: PodEntries,
): { readonly until: number; readonly isOpen?: true } => {
  const run = runs.findLast(({ from }) => from <= at);
  return run && run.until < until ? { until: run.until } : { until, isOpen: true };
};

export const inTimeOrder = (marks: readonly Mark[]): readonly Mark[] =>
  marks.toSorted((one, other) => one.at - other.at);
