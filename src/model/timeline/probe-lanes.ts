import type { JournalEntry } from '../journal.js';
import type { EntryOf } from '../why/pod-story.js';
import { compactDuration } from './compact-duration.js';
import type { Lane, Mark } from './lanes.js';
import { inTimeOrder, markOf, type PodEntries } from './pod-entries.js';

/** One lane for each probe of each container: verdicts as spans that begin with a change, and failures one by one. */
export const probeLanes = ({ own, until }: PodEntries): readonly Lane[] => {
  const lanes = new Map<string, JournalEntry[]>();
  for (const entry of own) {
    const probe = probeOf(entry);
    if (probe === undefined || entry.container === undefined) continue;
    const key = `${entry.container} ${probe}`;
    lanes.set(key, [...(lanes.get(key) ?? []), entry]);
  }
  return [...lanes].map(([name, entries]) => {
    const container = entries[0]?.container ?? '';
    const deaths = own.filter((entry) => entry.container === container && isDeath(entry));
    return { kind: 'probe' as const, name, container, marks: probeMarks(entries, deaths, until) };
  });
};

const FAILURE = /^(Startup|Readiness|Liveness) probe (?:failed|errored)/;

/** Which probe the entry is about: a verdict, or the event of one failure. */
export const probeOf = (entry: JournalEntry): string | undefined => {
  if (entry.kind === 'probe') return entry.probe;
  return entry.kind === 'event' && entry.reason === 'Unhealthy'
    ? FAILURE.exec(entry.message)?.[1]?.toLowerCase()
    : undefined;
};

const isDeath = (entry: JournalEntry): boolean => entry.kind === 'runtime-changed' && entry.change === 'ContainerDied';

const probeMarks = (
  entries: readonly JournalEntry[],
  deaths: readonly JournalEntry[],
  until: number,
): readonly Mark[] => {
  const verdicts = entries.filter((entry): entry is EntryOf<'probe'> => entry.kind === 'probe');
  return inTimeOrder([
    ...verdicts.flatMap((entry, index) => {
      // A verdict is about one instance, and ends with it.
      const end = [verdicts[index + 1], deaths.find(({ at }) => at >= entry.at)]
        .filter((next) => next !== undefined)
        .toSorted((one, other) => one.at - other.at)[0];
      return [verdictSpan(entry, end, until), verdictMark(entry)];
    }),
    ...entries.filter((entry) => entry.kind === 'event').map(failureMark),
  ]);
};

const verdictSpan = (entry: EntryOf<'probe'>, end: JournalEntry | undefined, until: number): Mark => {
  const look = entry.result === 'success' ? 'passing' : 'failing';
  return markOf(entry, {
    id: `${entry.id}.verdict`,
    look,
    label: look,
    text: `the ${entry.probe} probe was ${look} for ${compactDuration((end?.at ?? until) - entry.at)}`,
    severity: 'quiet',
    until: end?.at ?? until,
    ...(end ? { endedBy: end.id } : { isOpen: true }),
  });
};

const verdictMark = (entry: EntryOf<'probe'>): Mark => {
  const isGood = entry.result === 'success';
  return markOf(entry, {
    look: isGood ? 'verdict-good' : 'verdict-bad',
    label: isGood ? 'passing' : 'failing',
    severity: isGood ? 'good' : 'error',
  });
};

const failureMark = (entry: EntryOf<'event'>): Mark =>
  markOf(entry, { look: 'failure', label: 'failure', text: entry.message, severity: 'warning' });
