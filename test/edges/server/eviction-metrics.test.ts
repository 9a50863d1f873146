import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { evictionMetrics } from '../../../src/server/metrics/eviction-metrics.js';

it('the metrics of evictions and preemptions have the names of the kubelet, and a series for each signal that has ended a pod', async () => {
  const registry = new Registry();
  const { podEvicted, podPreempted } = evictionMetrics(registry);
  const values = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => /_evictions\{|_preemptions\{|_count\{|_sum\{|le="1"/.test(line));
  expect(await values()).toEqual([]);
  podEvicted('memory.available', 0.5);
  podEvicted('memory.available', 2);
  podEvicted('emptydirfs.limit', undefined);
  podPreempted('cpu');
  expect(await values()).toEqual([
    'kubelet_evictions{eviction_signal="memory.available"} 2',
    'kubelet_evictions{eviction_signal="emptydirfs.limit"} 1',
    'kubelet_eviction_stats_age_seconds_bucket{le="1",eviction_signal="memory.available"} 1',
    'kubelet_eviction_stats_age_seconds_sum{eviction_signal="memory.available"} 2.5',
    'kubelet_eviction_stats_age_seconds_count{eviction_signal="memory.available"} 2',
    'kubelet_preemptions{preemption_signal="cpu"} 1',
  ]);
});
