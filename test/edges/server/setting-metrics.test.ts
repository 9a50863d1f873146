import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerSettings, type Settings } from '../../../src/server/metrics/setting-metrics.js';

const scraped = async (settings: Settings): Promise<readonly string[]> => {
  const registry = new Registry();
  registerSettings(registry, settings);
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('# HELP'));
};

it('has the version of cgroups, and where the metrics of pods are from', async () => {
  expect(await scraped({ cgroupVersion: 2, metricsProvider: 'cadvisor' })).toEqual([
    '# TYPE kubelet_cgroup_version gauge',
    'kubelet_cgroup_version 2',
    '# TYPE kubelet_metrics_provider gauge',
    'kubelet_metrics_provider{provider="cadvisor"} 1',
  ]);
  expect(await scraped({ cgroupVersion: 1, metricsProvider: 'cri' })).toEqual([
    '# TYPE kubelet_cgroup_version gauge',
    'kubelet_cgroup_version 1',
    '# TYPE kubelet_metrics_provider gauge',
    'kubelet_metrics_provider{provider="cri"} 1',
  ]);
});

it('has no version on a machine without cgroups', async () => {
  expect(await scraped({ cgroupVersion: undefined, metricsProvider: 'cadvisor' })).toEqual([
    '# TYPE kubelet_metrics_provider gauge',
    'kubelet_metrics_provider{provider="cadvisor"} 1',
  ]);
});
