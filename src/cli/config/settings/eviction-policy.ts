import type { EvictionPolicy } from '../../../model/eviction/eviction-policy.js';
import { evictionThresholds, type ThresholdFields } from '../../../model/eviction/thresholds.js';
import type { AgentConfig } from '../fields/kubelet-configuration.js';

type EvictionFields = ThresholdFields &
  Pick<
    AgentConfig,
    'evictionPressureTransitionPeriodMs' | 'evictionMaxPodGracePeriod' | 'localStorageCapacityIsolation'
  >;

/** When the node evicts pods; undefined if it never does. */
export const evictionPolicy = (config: EvictionFields): EvictionPolicy | undefined => {
  const thresholds = evictionThresholds(config);
  const enforcesLocalLimits = config.localStorageCapacityIsolation;
  if (thresholds.length === 0 && !enforcesLocalLimits) return undefined;
  return {
    ...{ thresholds, enforcesLocalLimits },
    pressureTransitionMs: config.evictionPressureTransitionPeriodMs,
    maxPodGraceSeconds: config.evictionMaxPodGracePeriod,
  };
};
