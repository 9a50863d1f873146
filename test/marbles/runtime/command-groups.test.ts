import { describe, it } from 'vitest';
import { removeWhenEmpty } from '../../../src/runtime/embedded/containers/command-groups.js';
import { marbles } from '../marbles.js';

describe('the cgroup of a command that has ended', () => {
  /** Each attempt has one of the results. */
  const attempts = (results: readonly boolean[], isOver: () => boolean = () => false) => {
    const left = [...results];
    return { isOver, tryRemove: () => left.shift() ?? false };
  };

  it(
    'is removed at once if it is empty',
    marbles(({ expectObservable, scheduler }) => {
      expectObservable(removeWhenEmpty(attempts([true]), scheduler)).toBe('|');
    }),
  );

  it(
    'is removed again after 10 ms and then in doubling steps',
    marbles(({ expectObservable, scheduler }) => {
      // 10 + 20 + 40
      expectObservable(removeWhenEmpty(attempts([false, false, false, true]), scheduler)).toBe('70ms |');
    }),
  );

  it(
    'is removed again at least every 10 s',
    marbles(({ expectObservable, scheduler }) => {
      // 10 + 20 + … + 5120, which are ten steps, and 10 s for the next two
      const results = [...Array.from({ length: 12 }, () => false), true];
      expectObservable(removeWhenEmpty(attempts(results), scheduler)).toBe('30230ms |');
    }),
  );

  it(
    'is left to the end of its container, which removes it',
    marbles(({ expectObservable, scheduler }) => {
      let count = 0;
      const isOver = (): boolean => (count += 1) > 3;
      expectObservable(removeWhenEmpty(attempts([], isOver), scheduler)).toBe('70ms |');
    }),
  );
});
