import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { shutdownMetrics } from '../../../src/server/metrics/shutdown-metrics.js';

it('the metrics of a shutdown have the names of the kubelet, and whole seconds', async () => {
  const registry = new Registry();
  const { nodeShutdown } = shutdownMetrics(registry);
  const values = async () =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const [start, end] = ['kubelet_graceful_shutdown_start_time_seconds', 'kubelet_graceful_shutdown_end_time_seconds'];
  expect(await values()).toEqual([`${start} 0`, `${end} 0`]);
  nodeShutdown({ startedAt: 1_500, endedAt: 3_999 });
  expect(await values()).toEqual([`${start} 1`, `${end} 3`]);
  nodeShutdown({ startedAt: 5_000 });
  expect(await values()).toEqual([`${start} 5`, `${end} 0`]);
});
