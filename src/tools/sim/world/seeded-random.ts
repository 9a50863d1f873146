import type { Random } from '../../../streams/ports/random.js';

/** Draws that are the same for the same seed. */
export interface SeededRandom {
  /** Uniform in [0, 1). */
  readonly next: Random;
  /** A whole number from `min` to `max`, both included. */
  readonly integer: (min: number, max: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(choices: readonly T[]) => T;
  /** Independent draws, which do not depend on the number of draws here. */
  readonly fork: (name: string) => SeededRandom;
}

/** Mulberry32 over a hash of the seed. Source: public domain, by Tommy Ettinger. */
export const seededRandom = (seed: number | string): SeededRandom => {
  let state = hash(String(seed));
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (choices) => choices[integer(0, choices.length - 1)]!,
    fork: (name) => seededRandom(`${seed}/${name}`),
  };
};

/** FNV-1a, then mixed so that neighbouring seeds are unrelated. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
};
