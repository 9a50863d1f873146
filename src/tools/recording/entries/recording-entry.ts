import type { JournalId } from '../../../model/journal/journal.js';

/** A JSON value. Other values, such as a bigint, have the form of `encodeValue`: `{ "$bigint": "7" }`. */
export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain };

/**
 * A recording is one run of an agent: one list, in order, of all values between the loop and its ports. The first entry
 * is the header; each other one is an input or an output.
 */
export type RecordingEntry = RecordingHeader | InputEntry | OutputEntry | CutEntry;

/** The facts that a replay needs before the first input. */
export interface RecordingHeader {
  readonly kind: 'recording';
  /** The version of this format; a reader knows 1. */
  readonly format: 1;
  /** The program that wrote the recording, such as a version of the agent. */
  readonly by: string;
  /** The scheduler's clock at the begin of the recording, in milliseconds. `at` counts from here. */
  readonly startedAt: number;
  /** The ports that are data, by their path in `KubeletPorts`. */
  readonly facts: Readonly<Record<string, Plain>>;
  /** The options that are data. */
  readonly options: Readonly<Record<string, Plain>>;
  /** The options that are code, such as `admit`: the caller of a replay has to pass them again. */
  readonly code: readonly string[];
  /** The optional ports that were present, and options, as `options.swap`. */
  readonly absent: readonly string[];
  readonly sources: readonly string[];
}

/**
 * The time of an input. Most inputs begin a step of the loop and state the time, which then stands still until the loop
 * has handled them. An input that a port delivers during a call, such as an immediate reply, states the number of
 * pending calls instead.
 */
export type Moment =
  | {
      /** Milliseconds since `startedAt`, by the scheduler. */
      readonly at: number;
      /**
       * The offset of the wall clock from the scheduler from here on, in milliseconds; the wall clock shows the floor
       * of the sum. Written when it has changed.
       */
      readonly wallOffset?: number;
      /** The time of the wall clock in this step, if it does not show whole milliseconds. */
      readonly wall?: number;
    }
  | { readonly depth: number };

/** An input from outside. */
export type InputEntry = Moment &
  (
    | {
        /** The agent was constructed. */
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
        /** Absent for `undefined`. The items of a list may be `KnownItems`. */
        readonly value?: Plain;
      }
    | { readonly kind: 'failed'; readonly call: number; readonly error: Plain }
    | { readonly kind: 'completed'; readonly call: number }
    | {
        /** The agent was stopped: `outcome$` was unsubscribed. */
        readonly kind: 'ended';
      }
  );

/** An action of the loop. */
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
      /** The loop has cancelled the call. */
      readonly kind: 'given-up';
      readonly call: number;
    }
  | {
      /** A timer was set; they are numbered from 1, with a new number each time one is set again. */
      readonly kind: 'timer';
      readonly timer: number;
      readonly delayMs: number;
    }
  | { readonly kind: 'cancelled'; readonly timer: number }
  | {
      /** A journal entry. `id` is its id in the journal. */
      readonly kind: 'journal';
      readonly id: JournalId;
      readonly record: JournalPlain;
    }
  | {
      /** A call of a port without a result, such as `recordEvent`. */
      readonly kind: 'told';
      readonly port: string;
      readonly args: readonly Plain[];
    }
  | {
      /**
       * A call of a port that returns at once, such as `random`. A port with constant results is recorded once per
       * arguments.
       */
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
      /** The reason of a failure. */
      readonly error?: Plain;
    };

/** The recording ends here although the agent went on, for example because the file was full. */
export interface CutEntry {
  readonly kind: 'cut';
  readonly reason: string;
}

/** A `JournalRecord` in the form of a recording. */
export type JournalPlain = {
  readonly kind: string;
  readonly causes: readonly JournalId[];
  readonly pod?: { readonly uid: string; readonly namespace: string; readonly name: string };
  readonly container?: string;
} & { readonly [key: string]: Plain };

/**
 * The items of a list: an item of an earlier reply of the same port is its number there; any other item comes with its
 * number. Numbers count per port, from 1.
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
