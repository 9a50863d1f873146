import { Counter, Histogram, type Registry } from 'prom-client';
import type { Metrics } from '../../streams/ports/metrics.js';

/**
 * Evictions by signal, and the age of the figures by which they were decided. There is a series once there was an eviction.
 *
 * Source: pkg/kubelet/metrics/metrics.go Evictions, EvictionStatsAge
 */
export const evictionMetrics = (registry: Registry): Pick<Metrics, 'podEvicted'> => {
  const registers = [registry];
  const labelNames = ['eviction_signal'] as const;
  const evictions = new Counter({
    name: 'kubelet_evictions',
    help: 'Cumulative number of pod evictions by eviction signal.',
    labelNames,
    registers,
  });
  const age = new Histogram({
    name: 'kubelet_eviction_stats_age_seconds',
    help: 'Time between when stats are collected, and when pod is evicted based on those stats by eviction signal.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    labelNames,
    registers,
  });
  return {
    podEvicted: (signal, statsAgeSeconds) => {
      evictions.inc({ eviction_signal: signal });
      if (statsAgeSeconds !== undefined) age.observe({ eviction_signal: signal }, statsAgeSeconds);
    },
  };
};
