import type { JournalId } from '../model/journal.js';
import type { PodRef } from '../model/pod.js';
import type { JournalPlain, OutputEntry, RecordingEntry } from './recording-entry.js';

/** A journal entry that the replay has come to. */
export interface ReplayedCause {
  readonly entry: number;
  readonly id: JournalId;
  readonly atMs: number;
  readonly record: JournalPlain;
}

interface ReplayCounts {
  /** That the replay has come to, with the header. */
  readonly entries: number;
  /** Inputs that the loop has heard. */
  readonly inputs: number;
  /** Outputs in which it was the same. */
  readonly effects: number;
  /** Of the life of the agent, as far as it was replayed. */
  readonly virtualMs: number;
}

/** Everything came out as it was recorded. */
export interface SameReplay extends ReplayCounts {
  readonly kind: 'same';
  /**
   * How it ended: the agent did, or there is no more, as when the agent was killed; or the recording was `cut` although the agent
   * went on; or `until` was reached.
   */
  readonly end: 'ended' | 'no-more' | 'cut' | 'until';
  /** Of a recording that was cut. */
  readonly reason?: string;
}

/** The first place in which something else came out. */
export interface DifferentReplay extends ReplayCounts {
  readonly kind: 'different';
  /** Number of the entry that did not come out; the header is 0. */
  readonly entry: number;
  readonly atMs: number;
  readonly wallTime: number;
  /** What the recording has there: an output, or the next input where the loop did more than it did then. */
  readonly expected: RecordingEntry;
  /** What the loop did instead; absent when it did nothing more because of the input. */
  readonly actual?: OutputEntry;
  /** What the loop threw, if that is the difference. */
  readonly thrown?: string;
  /** What the loop was dealing with. */
  readonly input?: { readonly entry: number; readonly input: RecordingEntry };
  readonly pod?: PodRef;
  /** The journal entries that led there, the oldest first. */
  readonly causes: readonly ReplayedCause[];
}

export type ReplayResult = SameReplay | DifferentReplay;
