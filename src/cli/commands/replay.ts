import { kubelet } from '../../kubelet.js';
import { formatGoDuration, parseGoDuration } from '../../model/go-duration.js';
import type { JournalEntry } from '../../model/journal.js';
import type { PodRef } from '../../model/pod.js';
import { parseInstant } from '../../model/timeline/parse-instant.js';
import { fullName, isCalled } from '../../model/why/find-pod.js';
import type { RecordingEntry, RecordingHeader } from '../../recording/recording-entry.js';
import { RecordingError } from '../../recording/recording-error.js';
import { openRecording } from '../../recording/recording-reader.js';
import { type MakeKubelet } from '../../recording/record-kubelet.js';
import { type EntryPlace, replay } from '../../recording/replay.js';
import type { ReplayResult } from '../../recording/replay-result.js';
import { entryText, journalEntry, shortCallText } from '../replay/entry-text.js';
import { differenceLines, tellDifference, type ToldDifference } from '../replay/tell-difference.js';
import { writeIncidentTest } from '../to-test/write-incident-test.js';
import { packageVersion } from '../version.js';

export interface ReplayFlags {
  /** A duration since the recording began, or a date. */
  readonly until?: string;
  readonly pod?: string;
  /** Where a test of the incident is written. */
  readonly toTest?: string;
  readonly output: 'text' | 'json';
}

/** What one pod saw of the agent. */
interface ToldEffect {
  readonly entry: number;
  readonly atMs: number;
  readonly pod: string;
  readonly text: string;
}

/**
 * Plays a recording to this version of the agent and prints whether it does the same; exit code 1 when it does not.
 *
 * Errors: the file cannot be read, or an entry of it makes no sense; both are named.
 */
export const replayRecording = (
  file: string,
  { until, pod, toTest, output }: ReplayFlags,
  makeKubelet: MakeKubelet = kubelet,
): void => {
  const reader = openRecording(file);
  const effects: ToldEffect[] = [];
  const journal = new RecentJournal();
  const isMeant = pod === undefined ? () => false : podCalled(pod, reader.header);
  const startedAt = performance.now();
  const untilMs = until === undefined ? Infinity : instantOf(until, reader.header);
  let result: ReplayResult;
  try {
    warnOfVersion(reader.header, file);
    const onEntry = (entry: RecordingEntry, number: number, { atMs, wallTime, pod: about }: EntryPlace): void => {
      if (entry.kind === 'journal') journal.add(journalEntry(entry.id, entry.record, wallTime));
      if (about && isMeant(about) && isTelling(entry)) {
        effects.push({
          entry: number,
          atMs,
          pod: fullName(about),
          text: entry.kind === 'call' ? shortCallText(entry) : entryText(entry),
        });
      }
    };
    result = replay(reader, makeKubelet, { onEntry, untilMs });
  } catch (error) {
    throw error instanceof RecordingError ? new Error(`${file}: ${error.message}`, { cause: error }) : error;
  } finally {
    reader.close();
  }
  const tookMs = performance.now() - startedAt;
  const difference = result.kind === 'different' ? tellDifference(result, journal.entries) : undefined;
  if (difference) process.exitCode = 1;
  const told: Told = {
    result,
    tookMs,
    difference,
    tornBytes: reader.tornBytes(),
    ...(pod !== undefined && { pod, effects }),
  };
  process.stdout.write(output === 'json' ? `${JSON.stringify(toJson(told))}\n` : `${toLines(told).join('\n')}\n`);
  if (pod !== undefined && effects.length === 0) {
    process.stderr.write(`(nothing in ${file} is about a pod ${JSON.stringify(pod)})\n`);
    process.exitCode = 1;
  }
  if (toTest !== undefined) writeIncidentTest(file, toTest, result.kind === 'same' ? result.virtualMs : untilMs);
};

interface Told {
  readonly result: ReplayResult;
  readonly tookMs: number;
  readonly difference: ToldDifference | undefined;
  readonly tornBytes: number;
  readonly pod?: string;
  readonly effects?: readonly ToldEffect[];
}

const toJson = ({ result, tookMs, difference, tornBytes, effects }: Told): object => ({
  same: result.kind === 'same',
  ...{ entries: result.entries, effects: result.effects, recordedMs: result.virtualMs, tookMs, tornBytes },
  ...(result.kind === 'same' && { end: result.end, ...(result.reason !== undefined && { reason: result.reason }) }),
  ...(difference && { difference }),
  ...(effects && { podEffects: effects }),
});

const toLines = ({ result, tookMs, difference, tornBytes, effects = [] }: Told): readonly string[] => {
  const [recorded, took] = [duration(result.virtualMs), duration(tookMs)];
  const pods = new Set(effects.map(({ pod }) => pod));
  return [
    ...effects.map(({ atMs, pod, text }) => {
      const name = pods.size > 1 ? `${pod}  ` : '';
      return `${(atMs / 1000).toFixed(3).padStart(10)} s  ${name}${text}`;
    }),
    ...(difference
      ? [...differenceLines(difference), `${result.effects} effects before it are the same`]
      : [`no difference: ${result.entries} entries, ${result.effects} effects, ${recorded} in ${took}`]),
    ...(result.kind === 'same' && result.end === 'cut'
      ? [`the recording ends before the agent did: ${result.reason ?? ''}`]
      : []),
    ...(result.kind === 'same' && result.end === 'no-more'
      ? [`the recording ends while the agent runs${tornBytes > 0 ? `, with ${tornBytes} bytes that are torn` : ''}`]
      : []),
  ];
};

const duration = (ms: number): string => formatGoDuration(Math.round(ms / 100) * 100);

/** Entries that show what the agent did about a pod, without what it only looked at. */
const isTelling = (entry: RecordingEntry): boolean => {
  switch (entry.kind) {
    case 'journal':
      return !QUIET_RECORDS.includes(entry.record.kind) && !entryText(entry).startsWith('the journal entry');
    case 'call':
      return entry.port.startsWith('runtime.') || entry.port.startsWith('images.')
        ? !LOOKS.test(entry.port)
        : entry.port === 'httpRequest';
    case 'told':
      return true;
    default:
      return false;
  }
};

/** The call itself is told already. */
const QUIET_RECORDS = ['event'];
const LOOKS = /\.(list\w+|\w*[sS]tatus|version|containerEvents|runtimeConfig)$/;

/** The newest entries of the journal: as many as an explanation may need, and no more than fit into memory. */
class RecentJournal {
  entries: JournalEntry[] = [];

  add(entry: JournalEntry): void {
    this.entries.push(entry);
    if (this.entries.length > 2 * MOST_ENTRIES) this.entries = this.entries.slice(-MOST_ENTRIES);
  }
}
const MOST_ENTRIES = 20_000;

/** By name, with or without the node's, `name_namespace` or UID. */
const podCalled = (text: string, { facts }: RecordingHeader): ((pod: PodRef) => boolean) => {
  const { name = '' } = (facts.node ?? {}) as { readonly name?: string };
  return (pod) => isCalled(pod, text) || pod.name === `${text}-${name}`;
};

const instantOf = (text: string, { startedAt }: RecordingHeader): number => {
  const sinceStart = parseGoDuration(text);
  if (sinceStart !== undefined && sinceStart >= 0) return sinceStart;
  const at = parseInstant(text, 0);
  if (at !== undefined && at > 0) return at - startedAt;
  throw new Error(
    `--until ${JSON.stringify(text)} is no time: expected a duration since the beginning such as 10m, or a date such as 2026-01-31T12:00:00Z`,
  );
};

const warnOfVersion = ({ by }: RecordingHeader, file: string): void => {
  const here = `rx-kubelet ${packageVersion()}`;
  if (by !== here) process.stderr.write(`warning: ${file} was recorded by ${by}, and this is ${here}\n`);
};
