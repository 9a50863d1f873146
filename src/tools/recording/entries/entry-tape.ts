import { errorText } from '../../../model/cri/cri-error.js';
import type { InputEntry, Moment, OutputEntry, RecordingEntry } from './recording-entry.js';
import type { StepClock } from './step-clock.js';

type WithoutMoment<T> = T extends InputEntry ? Omit<T, 'at' | 'wallOffset' | 'wall' | 'depth'> : never;
/** An input without its time. */
export type Input = WithoutMoment<InputEntry>;

export interface EntryTapeOptions {
  readonly write: (entry: RecordingEntry) => void;
  /** After the first false nothing is written any more. */
  readonly isOpen: () => boolean;
  readonly clock: StepClock;
}

/**
 * Puts inputs and outputs in order, each input with its time. An entry is only created if it can be written. Errors:
 * none; an entry that cannot be written ends the recording.
 */
export class EntryTape {
  readonly #write: (entry: RecordingEntry) => void;
  readonly #isOpen: () => boolean;
  readonly #clock: StepClock;
  /** Entries that came during a call of a port, whose result, which comes before them, is not known yet. */
  #held: (RecordingEntry | undefined)[] | undefined;
  #isInStep = false;
  /** The number of pending calls of ports. */
  #depth = 0;
  #isBroken = false;

  constructor({ write, isOpen, clock }: EntryTapeOptions) {
    this.#write = write;
    this.#isOpen = isOpen;
    this.#clock = clock;
  }

  /** Records an input: `perform` delivers it to the loop. */
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

  /** Records an output: `perform` passes it to the world, which may reply meanwhile. */
  output(entry: () => OutputEntry, perform: () => void): void {
    this.#put(entry);
    this.#during(perform);
  }

  /** Records a call of the loop that returns at once. */
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
      // Without this entry the rest is useless; the agent must not be affected.
      this.#isBroken = true;
      return {
        kind: 'cut',
        reason: `something cannot be written: ${errorText(error)}`,
      };
    }
  }

  #letGo(held: readonly (RecordingEntry | undefined)[]): void {
    this.#held = undefined;
    for (const entry of held) if (entry) this.#write(entry);
  }
}

const withMoment = (input: Input, moment: Moment): InputEntry => ({ ...input, ...moment });
