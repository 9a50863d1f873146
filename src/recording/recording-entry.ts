import type { JournalId } from '../model/journal.js';

/** What JSON can hold. What it cannot, such as a bigint, stands in it as `encodeValue` writes it: `{ "$bigint": "7" }`. */
export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain };

/**
 * A recording is one life of an agent as one list, in the order in which things happened, of everything that passed between the
 * loop and its ports. The first entry is the header; each other one is an input or an output.
 */
export type RecordingEntry = RecordingHeader | InputEntry | OutputEntry | CutEntry;

/** What a replay has to know before anything happens. */
export interface RecordingHeader {
  readonly kind: 'recording';
  /** Of this format; a reader knows 1. */
  readonly format: 1;
  /** What made the recording, such as a version of the agent. */
  readonly by: string;
  /** The clock of the scheduler when the recording began, in milliseconds. `at` counts from here. */
  readonly startedAt: number;
  /** The ports that are data, by their path in `KubeletPorts`. */
  readonly facts: Readonly<Record<string, Plain>>;
  /** The options that are data. */
  readonly options: Readonly<Record<string, Plain>>;
  /** The options that are code, such as `admit`: whoever replays has to give them again. */
  readonly code: readonly string[];
  /** Ports that may be left out and were, and options, as `options.swap`. */
  readonly absent: readonly string[];
  readonly sources: readonly string[];
}

/**
 * When an input came. Most begin a step of the loop and say the time, which then stands still until the loop has done all that
 * it does because of them. One that a port delivers while it is being called, such as an answer that is there at once, says
 * instead how many calls are under way.
 */
export type Moment =
  | {
      /** Milliseconds since `startedAt`, by the scheduler. */
      readonly at: number;
      /**
       * The wall clock is this much ahead of the scheduler's from here on, in milliseconds, and shows whole milliseconds: the
       * floor of the sum. Said when it has changed.
       */
      readonly wallOffset?: number;
      /** What the wall clock shows in this step, where it does not show whole milliseconds. */
      readonly wall?: number;
    }
  | { readonly depth: number };

/** What came from outside. */
export type InputEntry = Moment &
  (
    | {
        /** The agent was put together. */
        readonly kind: 'made';
      }
    | {
        /** The agent was started: `outcome$` was subscribed. */
        readonly kind: 'started';
      }
    | {
        /** A timer was due. */
        readonly kind: 'fired';
        readonly timer: number;
      }
    | {
        /** A call, or a stream, has emitted. */
        readonly kind: 'reply';
        readonly call: number;
        /** Absent for `undefined`. The items of a listing may stand as `KnownItems`. */
        readonly value?: Plain;
      }
    | { readonly kind: 'failed'; readonly call: number; readonly error: Plain }
    | { readonly kind: 'completed'; readonly call: number }
    | {
        /** The agent was stopped: `outcome$` was unsubscribed. */
        readonly kind: 'ended';
      }
  );

/** What the loop did. */
export type OutputEntry =
  | {
      /** A call was made, or a stream was subscribed; they are numbered together, from 1. */
      readonly kind: 'call';
      readonly call: number;
      /** The path in `KubeletPorts`, such as `runtime.startContainer`, or `sources.<name>` or `stop$`. */
      readonly port: string;
      readonly args: readonly Plain[];
    }
  | {
      /** The loop no longer waits for the call. */
      readonly kind: 'given-up';
      readonly call: number;
    }
  | {
      /** A timer was set; they are numbered from 1, anew whenever one is set again. */
      readonly kind: 'timer';
      readonly timer: number;
      readonly delayMs: number;
    }
  | { readonly kind: 'cancelled'; readonly timer: number }
  | {
      /** A journal entry. `id` is what the journal called it. */
      readonly kind: 'journal';
      readonly id: JournalId;
      readonly record: JournalPlain;
    }
  | {
      /** Something was told to a port that has no answer, such as `recordEvent`. */
      readonly kind: 'told';
      readonly port: string;
      readonly args: readonly Plain[];
    }
  | {
      /** A port was asked that answers at once, such as `random`. One whose answer never changes is asked once per question. */
      readonly kind: 'asked';
      readonly port: string;
      readonly args: readonly Plain[];
      /** Absent for `undefined`. */
      readonly value?: Plain;
    }
  | {
      /** A run of a pod's worker has ended: the agent emitted its outcome. */
      readonly kind: 'outcome';
      readonly outcome: Plain;
    }
  | {
      /** The agent has ended by itself. */
      readonly kind: 'over';
      /** Why, when it failed. */
      readonly error?: Plain;
    };

/** The recording ends here although the agent went on, such as because the file was full. */
export interface CutEntry {
  readonly kind: 'cut';
  readonly reason: string;
}

/** A `JournalRecord` as it stands in a recording. */
export type JournalPlain = {
  readonly kind: string;
  readonly causes: readonly JournalId[];
  readonly pod?: { readonly uid: string; readonly namespace: string; readonly name: string };
  readonly container?: string;
} & { readonly [key: string]: Plain };

/**
 * The items of a listing: one that was in an earlier reply of the same port is the number that it got there; any other one
 * comes with its number. Numbers count per port, from 1.
 */
export interface KnownItems {
  readonly $items: readonly (number | { readonly number: number; readonly item: Plain })[];
}

const OUTPUTS: readonly string[] = [
  'call',
  'given-up',
  'timer',
  'cancelled',
  'journal',
  'told',
  'asked',
  'outcome',
  'over',
] satisfies OutputEntry['kind'][];
const INPUTS: readonly string[] = [
  'made',
  'started',
  'fired',
  'reply',
  'failed',
  'completed',
  'ended',
] satisfies InputEntry['kind'][];

export const isOutput = (entry: RecordingEntry): entry is OutputEntry => OUTPUTS.includes(entry.kind);
export const isInput = (entry: RecordingEntry): entry is InputEntry => INPUTS.includes(entry.kind);
