import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { volumeMetrics } from '../../../src/server/metrics/volume-metrics.js';

it('has the counts of the last clean-up of pods that are over', async () => {
  const registry = new Registry();
  const metrics = volumeMetrics(registry);
  const lines = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('kubelet_orphan_pod'));
  expect(await lines()).toEqual([
    'kubelet_orphan_pod_cleaned_volumes 0',
    'kubelet_orphan_pod_cleaned_volumes_errors 0',
  ]);
  metrics.orphansCleaned({ pods: 3, failed: 2 });
  expect(await lines()).toEqual([
    'kubelet_orphan_pod_cleaned_volumes 3',
    'kubelet_orphan_pod_cleaned_volumes_errors 2',
  ]);
  metrics.orphansCleaned({ pods: 0, failed: 0 });
  expect((await lines())[1]).toBe('kubelet_orphan_pod_cleaned_volumes_errors 0');
});

it("counts operations on volumes, and the volumes of both states, by the kubelet's names", async () => {
  const registry = new Registry();
  const metrics = volumeMetrics(registry);
  const secret = 'kubernetes.io/secret';
  metrics.storageOperation({ plugin: secret, operation: 'volume_mount', failed: true, seconds: 0.3 });
  metrics.storageOperation({ plugin: secret, operation: 'volume_mount', failed: false, seconds: 2 });
  metrics.volumes([
    { plugin: 'kubernetes.io/configmap', desired: 2, actual: 2 },
    { plugin: secret, desired: 3, actual: 1 },
  ]);
  metrics.volumes([{ plugin: secret, desired: 3, actual: 2 }]);
  const lines = (await registry.metrics()).split('\n');
  const operation = `volume_plugin="${secret}",operation_name="volume_mount"`;
  expect(lines.filter((line) => /^storage_operation_duration_seconds_(sum|count)/.test(line))).toEqual([
    `storage_operation_duration_seconds_sum{${operation},status="fail-unknown",migrated="false"} 0.3`,
    `storage_operation_duration_seconds_count{${operation},status="fail-unknown",migrated="false"} 1`,
    `storage_operation_duration_seconds_sum{${operation},status="success",migrated="false"} 2`,
    `storage_operation_duration_seconds_count{${operation},status="success",migrated="false"} 1`,
  ]);
  const bounds = lines.flatMap((line) => /_bucket\{le="(.*?)".*success/.exec(line)?.[1] ?? []);
  expect(bounds).toEqual(['0.1', '0.25', '0.5', '1', '2.5', '5', '10', '15', '25', '50', '120', '300', '600', '+Inf']);
  // A plugin without volumes is gone.
  expect(lines.filter((line) => line.startsWith('volume_manager_total_volumes'))).toEqual([
    `volume_manager_total_volumes{plugin_name="${secret}",state="desired_state_of_world"} 3`,
    `volume_manager_total_volumes{plugin_name="${secret}",state="actual_state_of_world"} 2`,
  ]);
});
