import type { JournalEntry } from '../../model/journal.js';
import { causeChain } from '../../model/why/cause-chain.js';
import { describeEntry } from '../../model/why/describe-entry.js';
import { fullName } from '../../model/why/find-pod.js';
import { plainDuration } from '../../model/why/plain-duration.js';
import { storyOf } from '../../model/why/pod-story.js';
import type { DifferentReplay } from '../../recording/replay-result.js';
import { entryText, firstDifference, journalEntry } from './entry-text.js';

/** The first difference between a recording and its replay, ready to be shown. */
export interface ToldDifference {
  /** Number of the entry; the header is 0. */
  readonly entry: number;
  /** As a date. */
  readonly at: string;
  /** Since the recording began. */
  readonly sinceStartMs: number;
  readonly pod?: string;
  readonly container?: string;
  /** What the journal of the recorded agent calls the entry, if it is one of the journal. */
  readonly journal?: string;
  readonly expected: string;
  readonly actual: string;
  /** Where two entries of the same kind begin to differ. */
  readonly field?: { readonly path: string; readonly expected: string; readonly actual: string };
  /** What the loop threw, if that is the difference. */
  readonly thrown?: string;
  /** What the loop was dealing with. */
  readonly input?: string;
  /** What led there, the newest first. */
  readonly because: readonly string[];
}

/** `journal` is what the replay has come to, the oldest first. */
export const tellDifference = (result: DifferentReplay, journal: readonly JournalEntry[]): ToldDifference => {
  const { entry, atMs, wallTime, expected, actual, pod, thrown, input } = result;
  const container = containerOf(result);
  const field = expected.kind === actual?.kind ? firstDifference(withoutId(expected), withoutId(actual)) : undefined;
  return {
    ...{ entry, at: new Date(wallTime).toISOString(), sinceStartMs: atMs },
    ...(pod && { pod: fullName(pod) }),
    ...(container !== undefined && { container }),
    ...(expected.kind === 'journal' && { journal: expected.id }),
    ...{ expected: entryText(expected), actual: entryText(actual) },
    ...(field && { field }),
    ...(thrown !== undefined && { thrown }),
    ...(input && { input: `entry ${input.entry}, ${input.input.kind}` }),
    because: reasons(result, journal),
  };
};

/** What journal calls an entry is no part of what it says. */
const withoutId = (entry: object): object => ({ ...entry, id: undefined });

const containerOf = ({ expected, actual }: DifferentReplay): string | undefined =>
  expected.kind === 'journal'
    ? expected.record.container
    : actual?.kind === 'journal'
      ? actual.record.container
      : undefined;

/** As `why` tells them, with the recorded entry at the top; else what the entry itself names. */
const reasons = (result: DifferentReplay, journal: readonly JournalEntry[]): string[] => {
  const { expected, pod, wallTime } = result;
  const top = expected.kind === 'journal' ? [journalEntry(expected.id, expected.record, wallTime)] : [];
  const all = [...journal, ...top];
  const story = pod && storyOf(all, pod);
  const told = story ? causeChain(all, story, story.containers.get(containerOf(result) ?? '')) : named(result, journal);
  return told
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
export const differenceLines = (told: ToldDifference): readonly string[] => {
  const { entry, at, sinceStartMs, pod, container, expected, actual, field, thrown, input, because } = told;
  const about = pod === undefined ? '' : `, ${pod}${container === undefined ? '' : `/${container}`}`;
  // Words may be the same although what they stand for is not, and arguments are long.
  const isShown = field !== undefined && (expected === actual || told.journal === undefined);
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
