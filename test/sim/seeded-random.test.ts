import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/tools/sim/world/seeded-random.js';

const drawn = (seed: number | string, count = 20) => {
  const { next } = seededRandom(seed);
  return Array.from({ length: count }, () => next());
};

describe('seededRandom', () => {
  it('draws the same for the same seed, and something else for any other', () => {
    expect(drawn(1)).toEqual(drawn(1));
    expect(drawn('1')).toEqual(drawn(1));
    const beginnings = new Set(Array.from({ length: 10_000 }, (_, seed) => drawn(seed, 2).join()));
    expect(beginnings.size).toBe(10_000);
  });

  it('spreads evenly over [0, 1)', () => {
    const draws = drawn('even', 100_000);
    const tenths = Array.from(
      { length: 10 },
      (_, tenth) => draws.filter((one) => Math.floor(one * 10) === tenth).length,
    );
    expect(draws.every((one) => one >= 0 && one < 1)).toBe(true);
    for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(400);
  });

  it('has nothing to do with a neighbouring seed in the first draw either', () => {
    const firsts = Array.from({ length: 10_000 }, (_, seed) => drawn(seed, 1)[0]!);
    const ascending = firsts.filter((one, index) => index > 0 && one > firsts[index - 1]!).length;
    expect(Math.abs(ascending - 5_000)).toBeLessThan(250);
  });

  it('draws whole numbers with both ends, and one choice of several', () => {
    const { integer, pick, chance } = seededRandom(3);
    expect(new Set(Array.from({ length: 200 }, () => integer(2, 5)))).toEqual(new Set([2, 3, 4, 5]));
    expect(new Set(Array.from({ length: 200 }, () => pick(['a', 'b'])))).toEqual(new Set(['a', 'b']));
    expect([chance(0), chance(1), integer(7, 7)]).toEqual([false, true, 7]);
  });

  it('gives a fork draws of its own, which do not depend on what is drawn beside it', () => {
    const used = seededRandom('seed');
    used.next();
    used.fork('other').next();
    expect(used.fork('one').next()).toBe(seededRandom('seed').fork('one').next());
    expect(used.fork('one').next()).not.toBe(used.fork('two').next());
  });
});
