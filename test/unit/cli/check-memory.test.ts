import { describe, expect, it } from 'vitest';
import { checkMemory } from '../../../src/cli/arguments/check-memory.js';
import { isSwapOn } from '../../../src/model/node/swaps.js';

type Config = Parameters<typeof checkMemory>[0];
const config: Config = {
  ...{ failSwapOn: false, memorySwap: { swapBehavior: '' }, memoryReservationPolicy: 'None' },
};
const REFUSED = 'running with swap on is not supported, please disable swap or set --fail-swap-on flag to false';

describe('the settings of memory', () => {
  it('let an agent refuse a machine that swaps, if they say so', () => {
    const swapping = { swaps: true, cgroupVersion: 2 } as const;
    expect(() => checkMemory({ ...config, failSwapOn: true }, swapping)).toThrow(REFUSED);
    expect(() => checkMemory({ ...config, failSwapOn: true }, { ...swapping, swaps: false })).not.toThrow();
    expect(checkMemory(config, swapping)).toEqual([]);
  });

  it.each<[row: string, Partial<Config>, swaps: boolean, warnings: readonly string[]]>([
    ['no swap, and nothing asked for', {}, false, []],
    ['swap', {}, true, ['this machine swaps, and under cgroup v1 the swap of pods is not limited']],
    [
      'shared swap',
      { memorySwap: { swapBehavior: 'LimitedSwap' } },
      false,
      ['memorySwap.swapBehavior: LimitedSwap has no effect under cgroup v1, it needs cgroup v2'],
    ],
    [
      'throttled and kept memory',
      { memoryThrottlingFactor: 0.8, memoryReservationPolicy: 'TieredReservation' },
      false,
      [
        'memoryThrottlingFactor: 0.8 has no effect under cgroup v1, it needs cgroup v2',
        'memoryReservationPolicy: TieredReservation has no effect under cgroup v1, it needs cgroup v2',
      ],
    ],
    ['one process killed at a time', { singleProcessOOMKill: true }, false, []],
  ])('warn under cgroup v1: %s', (_, fields, swaps, warnings) => {
    expect(checkMemory({ ...config, ...fields }, { swaps, cgroupVersion: 1 })).toEqual(warnings);
  });

  it('cannot ask cgroup v1 for whole containers to be killed', () => {
    const asking = { ...config, singleProcessOOMKill: false };
    expect(() => checkMemory(asking, { swaps: false, cgroupVersion: 1 })).toThrow(
      'singleProcessOOMKill must not be explicitly set to false when using cgroup v1',
    );
    expect(checkMemory(asking, { swaps: false, cgroupVersion: 2 })).toEqual([]);
  });
});

it.each([
  ['', false],
  ['Filename\tType\tSize\tUsed\tPriority\n', false],
  ['Filename\tType\tSize\tUsed\tPriority\n/dev/sda2  partition\t1048572\t0\t-2\n', true],
])('a machine with the swaps %j swaps: %s', (content, swaps) => {
  expect(isSwapOn(content)).toBe(swaps);
});
