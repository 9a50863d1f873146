/** Draws that are the same for the same seed. */
export interface Dice {
  readonly seed: number;
  /** A whole number from `low` to `high`, both included. */
  readonly between: (low: number, high: number) => number;
  readonly oneOf: <T>(choices: readonly T[]) => T;
}

/** The seed is that of the variable SEED, else the same each time: what differs between two runs is the time then, not the draws. */
export const SEED = Number(process.env.SEED ?? 1);

export const dice = (seed: number): Dice => {
  let state = seed >>> 0;
  // A linear congruential generator with the constants of Numerical Recipes; its upper bits are good enough for this.
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    seed,
    between,
    oneOf: (choices) => {
      const chosen = choices[between(0, choices.length - 1)];
      if (chosen === undefined) throw new Error('nothing to choose from');
      return chosen;
    },
  };
};

/** Lets some time of the draw go by. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
