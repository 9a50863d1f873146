import {
  type CutEntry,
  type InputEntry,
  isInput,
  isOutput,
  type OutputEntry,
  type RecordingEntry,
} from './recording-entry.js';
import { RecordingError } from './recording-error.js';
import { sameValue } from './same-value.js';

/** Where a replay and its recording part. */
export interface Parting {
  /** Number of the entry that the replay should have come to; the header is 0. */
  readonly entry: number;
  /** What the recording has there. */
  readonly expected: RecordingEntry;
  /** What the loop did instead; absent when it did nothing more. */
  readonly actual: OutputEntry | undefined;
}

export interface ReplayCursorOptions {
  /** After the header. */
  readonly entries: Iterable<RecordingEntry>;
  /** Hears every entry that the replay has come to, in order. */
  readonly onEntry: (entry: RecordingEntry, number: number) => void;
  /** Lets the loop hear of an input. */
  readonly perform: (input: InputEntry, number: number) => void;
}

/**
 * Goes through the entries of a recording as the loop does what they say. It is over where they end, or at the first output that
 * is another one; after that the loop is let be, and nothing is compared.
 */
export class ReplayCursor {
  readonly #iterator: Iterator<RecordingEntry>;
  readonly #onEntry: ReplayCursorOptions['onEntry'];
  readonly #perform: ReplayCursorOptions['perform'];
  #next: InputEntry | OutputEntry | undefined;
  #number = 0;
  #depth = 0;
  #isOver = false;
  #parting: Parting | undefined;
  #cut: CutEntry | undefined;

  constructor({ entries, onEntry, perform }: ReplayCursorOptions) {
    this.#iterator = entries[Symbol.iterator]();
    this.#onEntry = onEntry;
    this.#perform = perform;
    this.#advance();
  }

  /** What comes next, unless the replay is over. */
  get next(): InputEntry | OutputEntry | undefined {
    return this.#isOver ? undefined : this.#next;
  }

  /** Number of the entry that comes next. */
  get number(): number {
    return this.#number;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What the recording says of its own end. */
  get cut(): CutEntry | undefined {
    return this.#cut;
  }

  get parting(): Parting | undefined {
    return this.#parting;
  }

  /** Goes past the next entry. */
  take(): void {
    if (this.#next) this.#onEntry(this.#next, this.#number);
    this.#advance();
  }

  /**
   * The loop does something: what the recording has in that place, with the answer; `undefined` once the replay is over. What came
   * in while the port was called comes in again.
   */
  output(actual: OutputEntry): OutputEntry | undefined {
    const expected = this.next;
    if (!expected) return undefined;
    if (!isOutput(expected) || !isSameOutput(expected, actual)) {
      this.part(actual);
      return undefined;
    }
    this.take();
    this.#depth += 1;
    this.#letIn();
    this.#depth -= 1;
    return expected;
  }

  /** The replay is over: the loop does something else than the next entry, or nothing. */
  part(actual: OutputEntry | undefined): void {
    if (this.#isOver || !this.#next) return;
    this.#parting = { entry: this.#number, expected: this.#next, actual };
    this.#isOver = true;
  }

  end(): void {
    this.#isOver = true;
  }

  #letIn(): void {
    for (;;) {
      const { next } = this;
      if (!next || !isInput(next) || !('depth' in next) || next.depth !== this.#depth) return;
      const number = this.#number;
      this.take();
      this.#perform(next, number);
    }
  }

  #advance(): void {
    this.#number += 1;
    const next = this.#iterator.next();
    this.#next = undefined;
    if (next.done) this.#isOver = true;
    else {
      const entry = checkedEntry(next.value, this.#number);
      // A recording that says so ends as well as one of which no more is there.
      if (entry.kind === 'cut') [this.#cut, this.#isOver] = [entry, true];
      else this.#next = entry;
    }
  }
}

const checkedEntry = (entry: RecordingEntry, number: number): InputEntry | OutputEntry | CutEntry => {
  const { kind } = (entry ?? {}) as { readonly kind?: unknown };
  if (typeof kind === 'string' && (entry.kind === 'cut' || isInput(entry) || isOutput(entry))) return entry;
  throw new RecordingError(number, `expected an input, an output or a cut, and not the kind ${JSON.stringify(kind)}`);
};

/** Answers are the world's: they are given, not compared. */
const isSameOutput = (expected: OutputEntry, actual: OutputEntry): boolean => {
  if (expected.kind === 'journal') return actual.kind === 'journal' && sameValue(expected.record, actual.record);
  if (expected.kind !== 'asked') return sameValue(expected, actual);
  return actual.kind === 'asked' && actual.port === expected.port && sameValue(expected.args, actual.args);
};
