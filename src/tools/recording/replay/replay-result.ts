import type { JournalId } from '../../../model/journal/journal.js';
import type { PodRef } from '../../../model/pod/pod.js';
import type { JournalPlain, OutputEntry, RecordingEntry } from '../entries/recording-entry.js';

/** A journal entry of the replay. */
export interface ReplayedCause {
  readonly entry: number;
  readonly id: JournalId;
  readonly atMs: number;
  readonly record: JournalPlain;
}

interface ReplayCounts {
  /** The number of replayed entries, with the header. */
  readonly entries: number;
  /** The number of inputs that the loop received. */
  readonly inputs: number;
  /** The number of equal outputs. */
  readonly effects: number;
  /** The replayed part of the agent's run. */
  readonly virtualMs: number;
}

/** Every output was as recorded. */
export interface SameReplay extends ReplayCounts {
  readonly kind: 'same';
  /**
   * The end: the agent's, or that of the entries, as when the agent was killed; or the recording was `cut` although the
   * agent went on; or `until` was reached.
   */
  readonly end: 'ended' | 'no-more' | 'cut' | 'until';
  /** The reason of a `cut`. */
  readonly reason?: string;
}

/** The first difference. */
export interface DifferentReplay extends ReplayCounts {
  readonly kind: 'different';
  /** The number of the entry that differs; the header is 0. */
  readonly entry: number;
  readonly atMs: number;
  readonly wallTime: number;
  /** The recorded entry: an output, or the next input if the loop did more than it did then. */
  readonly expected: RecordingEntry;
  /** The loop's action instead; absent if the input caused nothing more. */
  readonly actual?: OutputEntry;
  /** The error that the loop threw, if that is the difference. */
  readonly thrown?: string;
  /** The input of the current step. */
  readonly input?: { readonly entry: number; readonly input: RecordingEntry };
  readonly pod?: PodRef;
  /** The journal entries that led there, the oldest first. */
  readonly causes: readonly ReplayedCause[];
}

export type ReplayResult = SameReplay | DifferentReplay;
