import type { NodeSettings } from '../../../host/facts/read-node-facts.js';
import { quantity, unitValue } from '../../../model/resources/quantity.js';
import type { AgentConfig } from '../fields/kubelet-configuration.js';
import { isGateOn } from '../fields/feature-gates.js';

type MemoryFields = Pick<
  AgentConfig,
  | 'featureGates'
  | 'kubeReserved'
  | 'memoryReservationPolicy'
  | 'memorySwap'
  | 'memoryThrottlingFactor'
  | 'singleProcessOOMKill'
  | 'systemReserved'
>;

/** How the memory of pods is handled. */
export const memorySettings = (
  config: MemoryFields,
): Pick<NodeSettings, 'memoryQos' | 'sharesSwap' | 'singleProcessOomKill'> => ({
  singleProcessOomKill: config.singleProcessOOMKill === true,
  sharesSwap: config.memorySwap.swapBehavior === 'LimitedSwap',
  ...(isGateOn(config.featureGates, 'MemoryQoS') && {
    memoryQos: {
      throttlingFactor: config.memoryThrottlingFactor ?? undefined,
      keepsRequests: config.memoryReservationPolicy === 'TieredReservation',
      reserved: [config.systemReserved, config.kubeReserved]
        .map(({ memory = '0' }) => unitValue(quantity(memory)))
        .reduce((sum, bytes) => sum + bytes),
    },
  }),
});
