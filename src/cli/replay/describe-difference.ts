import type { JournalEntry } from '../../model/journal/journal.js';
import { causeChain } from '../../tools/why/cause-chain.js';
import { describeEntry } from '../../tools/why/describe-entry.js';
import { fullName } from '../../tools/why/find-pod.js';
import { plainDuration } from '../../model/values/plain-duration.js';
import { storyOf } from '../../tools/why/pod-story.js';
import type { DifferentReplay } from '../../tools/recording/replay/replay-result.js';
import { entryText, firstDifference, journalEntry } from './entry-text.js';

/** The first difference between a recording and its replay, as texts. */
export interface DifferenceReport {
  /** The number of the entry; the header is 0. */
  readonly entry: number;
  /** The wall time as a date. */
  readonly at: string;
  /** The time since the recording began. */
  readonly sinceStartMs: number;
  readonly pod?: string;
  readonly container?: string;
  /** The ID of the entry in the journal of the recorded agent, if it is a journal entry. */
  readonly journal?: string;
  readonly expected: string;
  readonly actual: string;
  /** The first field in which two entries of the same kind differ. */
  readonly field?: { readonly path: string; readonly expected: string; readonly actual: string };
  /** The error of the loop, if that is the difference. */
  readonly thrown?: string;
  /** The input that the loop was handling. */
  readonly input?: string;
  /** The causes, the newest first. */
  readonly because: readonly string[];
}

/** `journal` holds the entries of the replay, the oldest first. */
export const describeDifference = (result: DifferentReplay, journal: readonly JournalEntry[]): DifferenceReport => {
  const { entry, atMs, wallTime, expected, actual, pod, thrown, input } = result;
  const container = containerOf(result);
  const field = expected.kind === actual?.kind ? firstDifference(withoutId(expected), withoutId(actual)) : undefined;
  return {
    entry,
    at: new Date(wallTime).toISOString(),
    sinceStartMs: atMs,
    ...(pod && { pod: fullName(pod) }),
    ...(container !== undefined && { container }),
    ...(expected.kind === 'journal' && { journal: expected.id }),
    expected: entryText(expected),
    actual: entryText(actual),
    ...(field && { field }),
    ...(thrown !== undefined && { thrown }),
    ...(input && { input: `entry ${input.entry}, ${input.input.kind}` }),
    because: reasons(result, journal),
  };
};

/** The ID of a journal entry is not part of its content. */
const withoutId = (entry: object): object => ({ ...entry, id: undefined });

const containerOf = ({ expected, actual }: DifferentReplay): string | undefined =>
  expected.kind === 'journal'
    ? expected.record.container
    : actual?.kind === 'journal'
      ? actual.record.container
      : undefined;

/** The causes as `why` prints them, beginning with the recorded entry; else those that the entry itself names. */
const reasons = (result: DifferentReplay, journal: readonly JournalEntry[]): string[] => {
  const { expected, pod, wallTime } = result;
  const top = expected.kind === 'journal' ? [journalEntry(expected.id, expected.record, wallTime)] : [];
  const all = [...journal, ...top];
  const story = pod && storyOf(all, pod);
  const report = story
    ? causeChain(all, story, story.containers.get(containerOf(result) ?? ''))
    : named(result, journal);
  return report
    .filter(({ id }) => id !== top[0]?.id)
    .flatMap((entry) => {
      const text = describeEntry(entry);
      const isMachinery = entry.kind === 'sync-started' && entry.work === 'sync' && entry.causes.length > 0;
      return text === undefined || isMachinery ? [] : [`${plainDuration(wallTime - entry.at)} before: ${text}`];
    });
};

const named = ({ causes }: DifferentReplay, journal: readonly JournalEntry[]): readonly JournalEntry[] => {
  const ids = new Set(causes.map(({ id }) => id));
  return journal.filter(({ id }) => ids.has(id)).toReversed();
};

/** The same as lines of text. */
export const differenceLines = (report: DifferenceReport): readonly string[] => {
  const { entry, at, sinceStartMs, pod, container, expected, actual, field, thrown, input, because } = report;
  const about = pod === undefined ? '' : `, ${pod}${container === undefined ? '' : `/${container}`}`;
  // The short texts may be equal although the entries differ, and arguments are long.
  const isShown = field !== undefined && (expected === actual || report.journal === undefined);
  return [
    `difference at entry ${entry}, ${(sinceStartMs / 1000).toFixed(3)} s after the beginning (${at})${about}`,
    `  recorded: ${expected}`,
    `  replayed: ${actual}`,
    ...(isShown ? [`  where:    ${field.path} was ${field.expected} and is ${field.actual}`] : []),
    ...(thrown === undefined ? [] : [`  thrown:   ${thrown}`]),
    ...(input === undefined ? [] : [`  during:   ${input}`]),
    ...(because.length === 0 ? [] : ['because:', ...because.map((line) => `  ${line}`)]),
  ];
};
