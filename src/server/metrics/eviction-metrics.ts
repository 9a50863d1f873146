import { Counter, Histogram, type Registry } from 'prom-client';
import type { Metrics } from '../../streams/ports/metrics.js';

/**
 * Evictions by signal, the age of the figures by which they were decided, and preemptions by resource. There is a series once there was one.
 *
 * Source: pkg/kubelet/metrics/metrics.go Evictions, EvictionStatsAge, Preemptions
 */
export const evictionMetrics = (registry: Registry): Pick<Metrics, 'podEvicted' | 'podPreempted'> => {
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
  const preemptions = new Counter({
    name: 'kubelet_preemptions',
    help: 'Cumulative number of pod preemptions by preemption resource',
    labelNames: ['preemption_signal'],
    registers,
  });
  return {
    podPreempted: (resource) => preemptions.inc({ preemption_signal: resource }),
    podEvicted: (signal, statsAgeSeconds) => {
      evictions.inc({ eviction_signal: signal });
      if (statsAgeSeconds !== undefined) age.observe({ eviction_signal: signal }, statsAgeSeconds);
    },
  };
};
