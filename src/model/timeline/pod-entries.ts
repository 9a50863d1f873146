import type { JournalEntry } from '../journal.js';
import { describeEntry } from '../why/describe-entry.js';
import type { EntryOf } from '../why/pod-story.js';
import type { Mark } from './lanes.js';
import type { Observed } from './observations.js';
import type { Routine } from './routine-entries.js';

/** What the lanes of one pod are drawn from. */
export interface PodEntries {
  /** About the pod, oldest first. */
  readonly own: readonly JournalEntry[];
  /** Runs of the agent, in which `own` lies; the last one may still go on. */
  readonly runs: readonly AgentRun[];
  readonly routine: Routine;
  /** What a recording knows beyond them; nothing where there is none. */
  readonly observed: Observed;
  /** Where the timeline ends; what has not ended by then is open. */
  readonly until: number;
}

export interface AgentRun {
  readonly from: number;
  /** When the agent ended, as far as that is known. */
  readonly until: number;
}

export const entriesOfKind = <Kind extends JournalEntry['kind']>(
  entries: readonly JournalEntry[],
  kind: Kind,
): readonly EntryOf<Kind>[] => entries.filter((entry): entry is EntryOf<Kind> => entry.kind === kind);

/** What a mark takes over from the entry that says it. */
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

/** Where a span ends that began in this run of the agent and that the agent itself would have ended. */
export const endOfRun = (
  at: number,
  { runs, until }: PodEntries,
): { readonly until: number; readonly isOpen?: true } => {
  const run = runs.findLast(({ from }) => from <= at);
  return run && run.until < until ? { until: run.until } : { until, isOpen: true };
};

export const inTimeOrder = (marks: readonly Mark[]): readonly Mark[] =>
  marks.toSorted((one, other) => one.at - other.at);
