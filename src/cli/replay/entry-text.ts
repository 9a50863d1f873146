import type { JournalEntry } from '../../model/journal/journal.js';
import { describeEntry } from '../../tools/why/describe-entry.js';
import type {
  JournalPlain,
  OutputEntry,
  Plain,
  RecordingEntry,
} from '../../tools/recording/entries/recording-entry.js';

/** The maximum length of an argument in characters. */
const LONGEST = 300;

/** The journal entry of a recording. `at` is Unix milliseconds. */
export const journalEntry = (id: string, record: JournalPlain, at: number): JournalEntry =>
  ({ ...record, id, at }) as unknown as JournalEntry;

/** An output of the loop, or an input, in plain words. */
export const entryText = (entry: RecordingEntry | undefined): string => {
  switch (entry?.kind) {
    case undefined:
      return 'nothing more';
    case 'journal': {
      const text = describeEntry(journalEntry(entry.id, entry.record, 0));
      return text ?? `the journal entry ${shortJson({ ...entry.record, causes: undefined, pod: undefined })}`;
    }
    case 'call':
      return `calls ${callText(entry)}`;
    case 'given-up':
      return `cancels call ${entry.call}`;
    case 'timer':
      return `sets a timer of ${entry.delayMs} ms`;
    case 'cancelled':
      return `cancels timer ${entry.timer}`;
    case 'told':
      return entry.port === 'recordEvent' ? `emits the event ${eventText(entry.args)}` : toldText(entry);
    case 'asked':
      return `asks ${toldText(entry)}`;
    case 'outcome':
      return `ends a run of a worker: ${shortJson(entry.outcome)}`;
    case 'over':
      return entry.error === undefined ? 'ends by itself' : `fails: ${shortJson(entry.error)}`;
    case 'made':
    case 'started':
      return `nothing more; the agent is ${entry.kind}`;
    case 'ended':
      return 'nothing more; the agent is stopped';
    case 'fired':
      return `nothing more; timer ${entry.timer} is due`;
    case 'reply':
    case 'failed':
    case 'completed':
      return `nothing more; next is ${INPUTS[entry.kind]} call ${entry.call}`;
    case 'cut':
    case 'recording':
      return 'nothing more; the recording ends';
  }
};

const INPUTS = { reply: 'a reply to', failed: 'the failure of', completed: 'the end of' } as const;

const callText = ({ port, args }: Extract<OutputEntry, { readonly kind: 'call' }>): string =>
  `${port}(${args.map(shortJson).join(', ')})`;

/** A call of the runtime, in short. */
export const shortCallText = ({ port, args: [first] }: Extract<OutputEntry, { readonly kind: 'call' }>): string => {
  const name = port.slice(port.indexOf('.') + 1);
  const { config, image, containerId, podSandboxId } = (first ?? {}) as Readonly<Record<string, Plain | undefined>>;
  const named = config as { readonly metadata?: { readonly name?: string } } | undefined;
  const id = (containerId ?? podSandboxId) as string | undefined;
  const about = named?.metadata?.name ?? (image as { readonly image?: string } | undefined)?.image ?? id?.slice(0, 12);
  return `calls ${name.charAt(0).toUpperCase()}${name.slice(1)}${about === undefined ? '' : ` ${about}`}`;
};

const toldText = ({ port, args }: { readonly port: string; readonly args: readonly Plain[] }): string =>
  `${port}(${args.map(shortJson).join(', ')})`;

const eventText = ([event]: readonly Plain[]): string => {
  const { type, reason, message } = event as Readonly<Record<'type' | 'reason' | 'message', string>>;
  return `${type} ${reason}: ${message}`;
};

const shortJson = (value: unknown): string => {
  const text = JSON.stringify(value) ?? '';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};

/** The first difference between two entries of one kind, as a path with both values; `undefined` if they are equal. */
export const firstDifference = (
  one: unknown,
  other: unknown,
  path = '',
): { readonly path: string; readonly expected: string; readonly actual: string } | undefined => {
  if (isObject(one) && isObject(other) && Array.isArray(one) === Array.isArray(other)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const found = firstDifference(one[key], other[key], path === '' ? key : `${path}.${key}`);
      if (found) return found;
    }
    return undefined;
  }
  return Object.is(one, other) ? undefined : { path, expected: shown(one), actual: shown(other) };
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const shown = (value: unknown): string => (value === undefined ? 'nothing' : shortJson(value));
