import { kubelet } from '../../kubelet.js';
import { formatGoDuration, parseGoDuration } from '../../model/values/go-duration.js';
import type { JournalEntry } from '../../model/journal/journal.js';
import type { PodRef } from '../../model/pod/pod.js';
import { parseInstant } from '../../tools/timeline/parse-instant.js';
import { fullName, isCalled } from '../../tools/why/find-pod.js';
import type { RecordingEntry, RecordingHeader } from '../../tools/recording/entries/recording-entry.js';
import { RecordingError } from '../../tools/recording/replay/recording-error.js';
import { openRecording } from '../../tools/recording/file/recording-reader.js';
import { type MakeKubelet } from '../../tools/recording/record-kubelet.js';
import { type EntryPlace, replay } from '../../tools/recording/replay.js';
import type { ReplayResult } from '../../tools/recording/replay/replay-result.js';
import { entryText, journalEntry, shortCallText } from '../replay/entry-text.js';
import { differenceLines, describeDifference, type DifferenceReport } from '../replay/describe-difference.js';
import { writeIncidentTest } from '../to-test/write-incident-test.js';
import { packageVersion } from '../process/version.js';

export interface ReplayFlags {
  /** A duration since the recording began, or a date. */
  readonly until?: string;
  readonly pod?: string;
  /** The file for a test of the incident. */
  readonly toTest?: string;
  readonly output: 'text' | 'json';
}

/** One output of the agent about the pod. */
interface PodEffect {
  readonly entry: number;
  readonly atMs: number;
  readonly pod: string;
  readonly text: string;
}

/**
 * Replays a recording with this version of the agent and prints the first difference; exit code 1 if there is one.
 *
 * Errors: the file cannot be read, or has an invalid entry; both are named.
 */
export const replayRecording = (
  file: string,
  { until, pod, toTest, output }: ReplayFlags,
  makeKubelet: MakeKubelet = kubelet,
): void => {
  const reader = openRecording(file);
  const effects: PodEffect[] = [];
  const journal = new RecentJournal();
  const isMeant = pod === undefined ? () => false : podCalled(pod, reader.header);
  const startedAt = performance.now();
  const untilMs = until === undefined ? Infinity : instantOf(until, reader.header);
  let result: ReplayResult;
  try {
    warnOfVersion(reader.header, file);
    const onEntry = (entry: RecordingEntry, number: number, { atMs, wallTime, pod: about }: EntryPlace): void => {
      if (entry.kind === 'journal') journal.add(journalEntry(entry.id, entry.record, wallTime));
      if (about && isMeant(about) && isAction(entry)) {
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
  const difference = result.kind === 'different' ? describeDifference(result, journal.entries) : undefined;
  // An incomplete replay does not prove that nothing differs.
  if (difference || reader.secondFrom() !== undefined) process.exitCode = 1;
  const report: Report = {
    result,
    tookMs,
    difference,
    tornBytes: reader.tornBytes(),
    secondFrom: reader.secondFrom(),
    ...(pod !== undefined && { pod, effects }),
  };
  process.stdout.write(output === 'json' ? `${JSON.stringify(toJson(report))}\n` : `${toLines(report).join('\n')}\n`);
  if (pod !== undefined && effects.length === 0) {
    process.stderr.write(`(nothing in ${file} is about a pod ${JSON.stringify(pod)})\n`);
    process.exitCode = 1;
  }
  if (toTest !== undefined) {
    const [reason, ...details] = writeIncidentTest(file, toTest, result.kind === 'same' ? result.virtualMs : untilMs);
    if (reason !== undefined) {
      process.stderr.write([`no test was written: ${reason}`, ...details.map((one) => `  ${one}`), ''].join('\n'));
      process.exitCode = 1;
    }
  }
};

interface Report {
  readonly result: ReplayResult;
  readonly tookMs: number;
  readonly difference: DifferenceReport | undefined;
  readonly tornBytes: number;
  readonly secondFrom: number | undefined;
  readonly pod?: string;
  readonly effects?: readonly PodEffect[];
}

const toJson = ({ result, tookMs, difference, tornBytes, secondFrom, effects }: Report): object => ({
  same: result.kind === 'same',
  entries: result.entries,
  effects: result.effects,
  recordedMs: result.virtualMs,
  tookMs,
  tornBytes,
  ...(result.kind === 'same' && { end: result.end, ...(result.reason !== undefined && { reason: result.reason }) }),
  ...(secondFrom !== undefined && { secondFrom }),
  ...(difference && { difference }),
  ...(effects && { podEffects: effects }),
});

const toLines = ({ result, tookMs, difference, tornBytes, secondFrom, effects = [] }: Report): readonly string[] => {
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
    ...(secondFrom === undefined
      ? []
      : [
          `another recording begins after it, with entry ${secondFrom}; it was not replayed: record into a new file each time`,
        ]),
  ];
};

const duration = (ms: number): string => formatGoDuration(Math.round(ms / 100) * 100);

/** Whether an entry shows an action of the agent, rather than a read. */
const isAction = (entry: RecordingEntry): boolean => {
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

/** The call itself is printed already. */
const QUIET_RECORDS = ['event'];
const LOOKS = /\.(list\w+|\w*[sS]tatus|version|containerEvents|runtimeConfig)$/;

/** The newest entries of the journal: enough for an explanation, and few enough for the memory. */
class RecentJournal {
  entries: JournalEntry[] = [];

  add(entry: JournalEntry): void {
    this.entries.push(entry);
    if (this.entries.length > 2 * MOST_ENTRIES) this.entries = this.entries.slice(-MOST_ENTRIES);
  }
}
const MOST_ENTRIES = 20_000;

/** By name, with or without the node's name, `name_namespace` or UID. */
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
