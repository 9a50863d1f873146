import type { SeededRandom } from '../world/seeded-random.js';

/** Ids in the form of runtimes: 64 hexadecimal digits. */
export const hexIds =
  ({ next }: Pick<SeededRandom, 'next'>): (() => string) =>
  () => {
    let id = '';
    for (let part = 0; part < 8; part++) {
      id += Math.floor(next() * 2 ** 32)
        .toString(16)
        .padStart(8, '0');
    }
    return id;
  };
