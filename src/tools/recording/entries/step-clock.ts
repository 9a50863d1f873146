import type { WallClock } from '../../../streams/ports/wall-clock.js';
import type { Moment } from './recording-entry.js';

type Beginning = Extract<Moment, { readonly at: number }>;

/**
 * Two clocks that stand still during a step, so that one time is enough for all reads in it. Outside of steps they run:
 * a client that requests the agent's state must receive the current time.
 */
export class StepClock {
  readonly #real: () => number;
  readonly #realWall: WallClock;
  readonly startedAt: number;
  /**
   * The bounds of the wall clock's offset from the scheduler, as far as they are known; the wall clock shows whole
   * milliseconds.
   */
  #offset: { value: number; from: number; below: number } | undefined;
  #stood: { readonly now: number; readonly wall: number } | undefined;

  constructor(now: () => number, wallClock: WallClock) {
    this.#real = now;
    this.#realWall = wallClock;
    this.startedAt = now();
  }

  readonly now = (): number => this.#stood?.now ?? this.#real();

  readonly wall: WallClock = () => this.#stood?.wall ?? this.#realWall();

  /** Stops the clocks and returns their times. */
  stop(): Beginning {
    const at = this.#sinceStart(this.#real());
    const now = this.startedAt + at;
    const wall = this.#realWall();
    this.#stood = { now, wall };
    if (this.#offset && wallAt(now, this.#offset.value) === wall) return { at };
    if (!this.#learnOffset(now, wall)) return { at, wall };
    return { at, wallOffset: this.#offset!.value };
  }

  goOn(): void {
    this.#stood = undefined;
  }

  /** The shortest number that loses nothing. */
  #sinceStart(now: number): number {
    const exact = now - this.startedAt;
    const short = Math.round(exact * 10_000) / 10_000;
    return this.startedAt + short === now ? short : exact;
  }

  /** Each read narrows the bounds, so that they soon hold for all reads, until the clock is set. */
  #learnOffset(now: number, wall: number): boolean {
    if (!Number.isInteger(wall)) return false;
    const seen = { from: wall - now, below: wall + 1 - now };
    const from = Math.max(seen.from, this.#offset?.from ?? seen.from);
    const below = Math.min(seen.below, this.#offset?.below ?? seen.below);
    const known = from < below ? { from, below } : seen;
    const value = (known.from + known.below) / 2;
    if (wallAt(now, value) !== wall) return false;
    this.#offset = { ...known, value };
    return true;
  }
}

/** Returns the wall clock's time for a scheduler's time and an offset. */
export const wallAt = (now: number, offset: number): number => Math.floor(now + offset);
