import type { AgentConfig } from '../config/fields/kubelet-configuration.js';

/** What a machine does with memory. */
export interface MachineMemory {
  readonly swaps: boolean;
  readonly cgroupVersion: 1 | 2;
}

type MemoryConfig = Pick<
  AgentConfig,
  'failSwapOn' | 'memorySwap' | 'memoryThrottlingFactor' | 'memoryReservationPolicy' | 'singleProcessOOMKill'
>;

/**
 * Returns what a configuration asks of the memory of a machine that has no means for it, a sentence each.
 *
 * Errors: the machine swaps, and may not; in the words of the kubelet.
 * Source: pkg/kubelet/cm/container_manager_linux.go NewContainerManager
 */
export const checkMemory = (config: MemoryConfig, machine: MachineMemory): readonly string[] => {
  const { memorySwap, memoryThrottlingFactor: factor, memoryReservationPolicy: policy } = config;
  if (machine.swaps && config.failSwapOn) {
    throw new Error('running with swap on is not supported, please disable swap or set --fail-swap-on flag to false');
  }
  if (machine.cgroupVersion === 2) return [];
  if (config.singleProcessOOMKill === false) throw new Error(NO_GROUP_KILL);
  return [
    ...(machine.swaps ? ['this machine swaps, and under cgroup v1 the swap of pods is not limited'] : []),
    ...(memorySwap.swapBehavior === 'LimitedSwap' ? ['memorySwap.swapBehavior: LimitedSwap'] : []).map(withoutEffect),
    ...(typeof factor === 'number' ? [`memoryThrottlingFactor: ${factor}`] : []).map(withoutEffect),
    ...(policy === 'TieredReservation' ? ['memoryReservationPolicy: TieredReservation'] : []).map(withoutEffect),
  ];
};

/** Source: pkg/kubelet/apis/config/validation/validation_linux.go */
const NO_GROUP_KILL =
  'invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1';

const withoutEffect = (setting: string): string => `${setting} has no effect under cgroup v1, it needs cgroup v2`;
