import type { InputEntry, Moment, OutputEntry, RecordingEntry } from './recording-entry.js';
import type { StepClock } from './step-clock.js';

type WithoutMoment<T> = T extends InputEntry ? Omit<T, 'at' | 'wallOffset' | 'wall' | 'depth'> : never;
/** What came, without when. */
export type Input = WithoutMoment<InputEntry>;

export interface EntryTapeOptions {
  readonly write: (entry: RecordingEntry) => void;
  /** Nothing is written, and nothing is done for it, once it says no. */
  readonly isOpen: () => boolean;
  readonly clock: StepClock;
}

/**
 * Puts inputs and outputs in the order in which they happen, each input with its moment. An entry is only made when it can be
 * written. Errors: none; what cannot be written ends the recording.
 */
export class EntryTape {
  readonly #write: (entry: RecordingEntry) => void;
  readonly #isOpen: () => boolean;
  readonly #clock: StepClock;
  /** Entries that came while a port was asked whose answer, which stands before them, is not there yet. */
  #held: (RecordingEntry | undefined)[] | undefined;
  #isInStep = false;
  /** Calls of ports that are under way. */
  #depth = 0;
  #isBroken = false;

  constructor({ write, isOpen, clock }: EntryTapeOptions) {
    this.#write = write;
    this.#isOpen = isOpen;
    this.#clock = clock;
  }

  /** Something comes from outside: `perform` lets the loop do what it does because of it. */
  input(entry: () => Input, perform: () => void): void {
    if (this.#isInStep) {
      const depth = this.#depth;
      this.#put(() => withMoment(entry(), { depth }));
      return perform();
    }
    const beginning = this.#clock.stop();
    this.#isInStep = true;
    try {
      this.#put(() => withMoment(entry(), beginning));
      perform();
    } finally {
      this.#isInStep = false;
      this.#clock.goOn();
    }
  }

  /** The loop does something: `perform` lets the world hear of it, which may answer meanwhile. */
  output(entry: () => OutputEntry, perform: () => void): void {
    this.#put(entry);
    this.#during(perform);
  }

  /** The loop asks something that is answered at once. */
  ask<T>(perform: () => T, entry: (answer: T) => OutputEntry): T {
    const isOutermost = this.#held === undefined;
    const held = (this.#held ??= []);
    const place = held.push(undefined) - 1;
    try {
      const answer = this.#during(perform);
      held[place] = this.#made(() => entry(answer));
      return answer;
    } finally {
      if (isOutermost) this.#letGo(held);
    }
  }

  get isOn(): boolean {
    return !this.#isBroken && this.#isOpen();
  }

  #during<T>(perform: () => T): T {
    this.#depth += 1;
    try {
      return perform();
    } finally {
      this.#depth -= 1;
    }
  }

  #put(entry: () => RecordingEntry): void {
    const made = this.#made(entry);
    if (!made) return;
    if (this.#held) this.#held.push(made);
    else this.#write(made);
  }

  #made(entry: () => RecordingEntry): RecordingEntry | undefined {
    if (!this.isOn) return undefined;
    try {
      return entry();
    } catch (error) {
      // Without this entry the rest is worth nothing; the agent must not suffer from it.
      this.#isBroken = true;
      return {
        kind: 'cut',
        reason: `something cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      };
    }
  }

  #letGo(held: readonly (RecordingEntry | undefined)[]): void {
    this.#held = undefined;
    for (const entry of held) if (entry) this.#write(entry);
  }
}

const withMoment = (input: Input, moment: Moment): InputEntry => ({ ...input, ...moment });
