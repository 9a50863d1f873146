import type { SeededRandom } from '../world/seeded-random.js';

/** Draws one of the choices, by their weights. */
export const weighted = <T>(draw: SeededRandom, choices: readonly (readonly [weight: number, choice: T])[]): T => {
  const total = choices.reduce((sum, [weight]) => sum + weight, 0);
  let left = draw.next() * total;
  for (const [weight, choice] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  return choices.at(-1)![1];
};
