import type { JournalEntry } from '../../model/journal/journal.js';
import { entriesOfKind, markOf, type AgentRun } from './pod-entries.js';
import type { Mark } from './lanes.js';

/** The runs of the agent that wrote the entries, and their marks for every lane. */
export const agentRuns = (entries: readonly JournalEntry[]): readonly AgentRun[] => {
  const starts = entries.flatMap((entry, index) => (entry.kind === 'agent-started' ? [index] : []));
  const [firstStart = entries.length] = starts;
  const begins = firstStart === 0 ? starts : [0, ...starts];
  return begins.flatMap((begin, index) => {
    const own = entries.slice(begin, begins[index + 1] ?? entries.length);
    const [first] = own;
    if (!first) return [];
    const stopping = own.findLast(({ kind }) => kind === 'agent-stopping');
    const isLast = index === begins.length - 1;
    return [{ from: first.at, until: isLast && !stopping ? Infinity : (own.at(-1)?.at ?? first.at) }];
  });
};

/** Restarts of the agent and times without a healthy runtime. */
export const agentBreaks = (entries: readonly JournalEntry[], until: number): readonly Mark[] => {
  const marks: Mark[] = [];
  let last: JournalEntry | undefined;
  let stopping: JournalEntry | undefined;
  let unhealthy: JournalEntry | undefined;
  let wasHealthy = false;
  const endUnhealthy = (end: JournalEntry | undefined): void => {
    // Before its first check of the runtime an agent treats it as unhealthy.
    const isFirstLook = !wasHealthy && end?.kind === 'runtime-health';
    const severity = isFirstLook ? 'quiet' : 'error';
    if (unhealthy) marks.push({ ...unhealthySpan(unhealthy, end?.at ?? until, end), severity });
    unhealthy = undefined;
  };
  for (const entry of entries) {
    if (entry.kind === 'agent-started') {
      endUnhealthy(entry);
      if (last) marks.push(awaySpan(stopping ?? last, stopping !== undefined, entry));
      marks.push(markOf(entry, { look: 'break', label: 'agent started', severity: 'note' }));
      stopping = undefined;
      wasHealthy = false;
    } else if (entry.kind === 'agent-stopping') stopping = entry;
    else if (entry.kind === 'entries-dropped') {
      marks.push(markOf(entry, { look: 'break', label: 'entries lost', severity: 'warning' }));
    } else if (entry.kind === 'runtime-health') {
      if (!entry.healthy) unhealthy ??= entry;
      else {
        endUnhealthy(entry);
        wasHealthy = true;
      }
    }
    last = entry;
  }
  endUnhealthy(undefined);
  if (stopping) marks.push({ ...awaySpan(stopping, true), until, isOpen: true });
  return marks.toSorted((one, other) => one.at - other.at);
};

const awaySpan = (from: JournalEntry, isOrderly: boolean, end?: JournalEntry): Mark =>
  markOf(from, {
    id: `${from.id}.away`,
    look: 'away',
    label: 'no agent',
    text: isOrderly ? 'the agent had been stopped' : 'no agent ran; the one before ended without logging it',
    severity: isOrderly ? 'note' : 'error',
    until: Math.max(from.at, end?.at ?? from.at),
    ...(end ? { endedBy: end.id } : {}),
  });

const unhealthySpan = (entry: JournalEntry, until: number, end: JournalEntry | undefined): Mark =>
  markOf(entry, {
    look: 'unhealthy',
    label: 'runtime down',
    severity: 'error',
    until,
    ...(end ? { endedBy: end.id } : { isOpen: true }),
  });

export const nodeOf = (entries: readonly JournalEntry[]): string | undefined =>
  entriesOfKind(entries, 'agent-started').at(-1)?.node;
