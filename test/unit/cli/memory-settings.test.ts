import { describe, expect, it } from 'vitest';
import { memorySettings } from '../../../src/cli/config/settings/memory-settings.js';
import { memoryQosOf } from '../../../src/model/cgroups/memory-qos.js';

const config: Parameters<typeof memorySettings>[0] = {
  ...{ featureGates: {}, systemReserved: { memory: '1Gi', cpu: '1' }, kubeReserved: { memory: '512Mi' } },
  ...{ memorySwap: { swapBehavior: '' }, memoryReservationPolicy: 'None' },
};
const GIB = 1n << 30n;

describe('the memory of pods', () => {
  it('is neither kept nor throttled nor swapped, unless the configuration says so', () => {
    expect(memorySettings(config)).toEqual({
      ...{ singleProcessOomKill: false, sharesSwap: false },
      memoryQos: { throttlingFactor: undefined, keepsRequests: false, reserved: (3n * GIB) / 2n },
    });
  });

  it('is as the configuration says', () => {
    const settings = memorySettings({
      ...config,
      ...{ memoryThrottlingFactor: 0.8, memoryReservationPolicy: 'TieredReservation', singleProcessOOMKill: true },
      memorySwap: { swapBehavior: 'LimitedSwap' },
    });
    expect(settings).toMatchObject({ singleProcessOomKill: true, sharesSwap: true });
    expect(settings.memoryQos).toMatchObject({ throttlingFactor: 0.8, keepsRequests: true });
  });

  it('is left to the kernel while the gate is off', () => {
    expect(memorySettings({ ...config, featureGates: { MemoryQoS: false } }).memoryQos).toBeUndefined();
  });

  it.each([
    ['nothing', undefined, { keepsRequests: false }],
    ['a policy', { keepsRequests: true, reserved: 0n }, { keepsRequests: true }],
    [
      'a factor',
      { keepsRequests: false, throttlingFactor: 0.8, reserved: GIB },
      { keepsRequests: false, throttling: { factor: 0.8, nodeMemory: 3n * GIB, pageSize: 4096n } },
    ],
    [
      'a factor, and more is reserved than there is',
      { keepsRequests: false, throttlingFactor: 0.8, reserved: 5n * GIB },
      { keepsRequests: false, throttling: { factor: 0.8, nodeMemory: 0n, pageSize: 4096n } },
    ],
  ])('is that of the machine: %s', (_, settings, expected) => {
    expect(memoryQosOf(settings, { memory: 4n * GIB, pageSize: 4096n })).toEqual(expected);
  });
});
