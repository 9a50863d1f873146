import {
  type CutEntry,
  type InputEntry,
  isInput,
  isOutput,
  type OutputEntry,
  type RecordingEntry,
} from '../entries/recording-entry.js';
import { RecordingError } from './recording-error.js';
import { sameValue } from '../entries/same-value.js';

/** The place where a replay and its recording differ. */
export interface Parting {
  /** The number of the expected entry; the header is 0. */
  readonly entry: number;
  /** The recorded entry. */
  readonly expected: RecordingEntry;
  /** The loop's action instead; absent if it did nothing more. */
  readonly actual: OutputEntry | undefined;
}

export interface ReplayCursorOptions {
  /** The entries after the header. */
  readonly entries: Iterable<RecordingEntry>;
  /** Receives every entry of the replay, in order. */
  readonly onEntry: (entry: RecordingEntry, number: number) => void;
  /** Delivers an input to the loop. */
  readonly perform: (input: InputEntry, number: number) => void;
}

/**
 * Follows the entries of a recording as the loop repeats them. It is over at their end, or at the first different
 * output; after that the loop goes on, and nothing is compared.
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
  #broken: { readonly error: unknown } | undefined;

  constructor({ entries, onEntry, perform }: ReplayCursorOptions) {
    this.#iterator = entries[Symbol.iterator]();
    this.#onEntry = onEntry;
    this.#perform = perform;
    this.#advance();
  }

  /** Returns the next entry, unless the replay is over. */
  get next(): InputEntry | OutputEntry | undefined {
    return this.#isOver ? undefined : this.#next;
  }

  /** The number of the next entry. */
  get number(): number {
    return this.#number;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The error of reading the entries: the replay is over there. */
  get broken(): { readonly error: unknown } | undefined {
    return this.#broken;
  }

  /** The recorded end. */
  get cut(): CutEntry | undefined {
    return this.#cut;
  }

  get parting(): Parting | undefined {
    return this.#parting;
  }

  /** Moves past the next entry. */
  take(): void {
    if (this.#next) this.#onEntry(this.#next, this.#number);
    this.#advance();
  }

  /**
   * Compares an output of the loop with the recorded one and returns that with its reply; `undefined` once the replay
   * is over. Inputs that came in during the call are delivered again.
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

  /** Ends the replay: the loop does something else than the next entry, or nothing. */
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
    this.#next = undefined;
    try {
      const next = this.#iterator.next();
      if (next.done) this.#isOver = true;
      else {
        const entry = checkedEntry(next.value, this.#number);
        // A recording with an `end` and one that just stops end in the same way.
        if (entry.kind === 'cut') [this.#cut, this.#isOver] = [entry, true];
        else this.#next = entry;
      }
    } catch (error) {
      // The loop is calling a port: it would treat an error thrown here as a failure of that port, and go on.
      [this.#broken, this.#isOver] = [{ error }, true];
    }
  }
}

const checkedEntry = (entry: RecordingEntry, number: number): InputEntry | OutputEntry | CutEntry => {
  const { kind } = (entry ?? {}) as { readonly kind?: unknown };
  if (typeof kind === 'string' && (entry.kind === 'cut' || isInput(entry) || isOutput(entry))) return entry;
  throw new RecordingError(number, `expected an input, an output or a cut, and not the kind ${JSON.stringify(kind)}`);
};

/** Replies come from the world: they are delivered, not compared. */
const isSameOutput = (expected: OutputEntry, actual: OutputEntry): boolean => {
  if (expected.kind === 'journal') return actual.kind === 'journal' && sameValue(expected.record, actual.record);
  if (expected.kind !== 'asked') return sameValue(expected, actual);
  return actual.kind === 'asked' && actual.port === expected.port && sameValue(expected.args, actual.args);
};
