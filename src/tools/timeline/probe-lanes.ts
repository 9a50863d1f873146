import type { JournalEntry } from '../../model/journal/journal.js';
import type { EntryOf } from '../why/pod-story.js';
import { compactDuration } from './compact-duration.js';
import type { Lane, Mark } from './lanes.js';
import { type ObservationOf, observationsOf } from './observations.js';
import { inTimeOrder, markOf, type PodEntries } from './pod-entries.js';

/** One lane for each probe of each container: verdicts as spans that begin with a change, and the known results. */
export const probeLanes = ({ own, observed, until }: PodEntries): readonly Lane[] => {
  const lanes = new Map<string, Probed>();
  const laneOf = (container: string, probe: string): Probed => {
    const key = `${container} ${probe}`;
    const known = lanes.get(key);
    if (known) return known;
    const lane: Probed = { container, entries: [], results: [] };
    lanes.set(key, lane);
    return lane;
  };
  for (const entry of own) {
    const probe = probeOf(entry);
    if (probe !== undefined && entry.container !== undefined) laneOf(entry.container, probe).entries.push(entry);
  }
  for (const result of observationsOf(observed, 'probe-result')) {
    laneOf(result.container, result.probe).results.push(result);
  }
  return [...lanes].map(([name, probed]) => {
    const { container } = probed;
    const deaths = own.filter((entry) => entry.container === container && isDeath(entry));
    return { kind: 'probe' as const, name, container, marks: probeMarks(probed, deaths, until) };
  });
};

interface Probed {
  readonly container: string;
  readonly entries: JournalEntry[];
  readonly results: ObservationOf<'probe-result'>[];
}

const FAILURE = /^(Startup|Readiness|Liveness) probe (?:failed|errored)/;

/** The probe of the entry: a verdict, or the event of one failure. */
export const probeOf = (entry: JournalEntry): string | undefined => {
  if (entry.kind === 'probe') return entry.probe;
  return entry.kind === 'event' && entry.reason === 'Unhealthy'
    ? FAILURE.exec(entry.message)?.[1]?.toLowerCase()
    : undefined;
};

const isDeath = (entry: JournalEntry): boolean => entry.kind === 'runtime-changed' && entry.change === 'ContainerDied';

const probeMarks = ({ entries, results }: Probed, deaths: readonly JournalEntry[], until: number): readonly Mark[] => {
  const verdicts = entries.filter((entry): entry is EntryOf<'probe'> => entry.kind === 'probe');
  const failures = entries.filter((entry): entry is EntryOf<'event'> => entry.kind === 'event');
  return inTimeOrder([
    // The failures of a verdict come before it. If every result is known, the events are not needed.
    ...(results.length > 0 ? resultMarks(results) : failureMarks(failures, verdicts, deaths)),
    ...verdicts.flatMap((entry, index) => {
      // A verdict is about one instance, and ends with it.
      const end = [verdicts[index + 1], deaths.find(({ at }) => at >= entry.at)]
        .filter((next) => next !== undefined)
        .toSorted((one, other) => one.at - other.at)[0];
      return [verdictSpan(entry, end, until), verdictMark(entry)];
    }),
  ]);
};

const TYPES: readonly string[] = ['startup', 'readiness', 'liveness'];

/** The first of equal results in a row is news, but only of failures: the others confirm it. */
const resultMarks = (results: readonly ObservationOf<'probe-result'>[]): readonly Mark[] =>
  results.map((observed, index): Mark => {
    const { id, at, container, probe, result, output = '' } = observed;
    const isNews = result === 'failure' && results[index - 1]?.result !== 'failure';
    // If several probes have the same kind, the event names the one that failed.
    const isOneProbe = TYPES.includes(probe);
    const printed = output.trim();
    return {
      id,
      at,
      look: result,
      label: result,
      entry: id,
      causes: [],
      text: `the ${probe} probe of ${container} ${result === 'success' ? 'succeeded' : 'failed'}${printed && `: ${printed}`}`,
      severity: isNews && isOneProbe ? 'warning' : 'quiet',
      ...(isNews ? {} : { routine: `${probe} ${result}` }),
    };
  });

/** A failure that is repeated without another result in between is no news. */
const failureMarks = (
  failures: readonly EntryOf<'event'>[],
  verdicts: readonly EntryOf<'probe'>[],
  deaths: readonly JournalEntry[],
): readonly Mark[] =>
  failures.map((entry, index) => {
    const before = failures[index - 1];
    const isBetween = ({ at }: JournalEntry): boolean => before !== undefined && at > before.at && at <= entry.at;
    const isNews =
      before?.message !== entry.message ||
      verdicts.some((verdict) => verdict.result === 'success' && isBetween(verdict)) ||
      deaths.some(isBetween);
    return markOf(entry, {
      look: 'failure',
      label: 'failure',
      text: entry.message.replace(/:\s*$/, ''),
      ...(isNews ? { severity: 'warning' } : { severity: 'quiet', routine: 'repeated failure' }),
    });
  });

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
