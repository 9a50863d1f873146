import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { nodeMetrics } from '../../../src/server/metrics/node-metrics.js';

it('has the names of the kubelet for the parts of the start of a node', async () => {
  const registry = new Registry();
  const { nodeStartup } = nodeMetrics(registry);
  const parts = ['pre-kubelet', 'pre-registration', 'registration', 'post-registration', 'total'] as const;
  parts.forEach((part, at) => nodeStartup(part, at + 0.5));
  const values = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(values).toEqual([
    'kubelet_node_startup_pre_kubelet_duration_seconds 0.5',
    'kubelet_node_startup_pre_registration_duration_seconds 1.5',
    'kubelet_node_startup_registration_duration_seconds 2.5',
    'kubelet_node_startup_post_registration_duration_seconds 3.5',
    'kubelet_node_startup_duration_seconds 4.5',
  ]);
});
