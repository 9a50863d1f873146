import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Metrics } from '../../streams/ports/metrics.js';

const OPERATION_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

/**
 * The metrics of volumes.
 *
 * Source: pkg/kubelet/volumemanager/metrics, pkg/volume/util/metrics.go, pkg/kubelet/metrics/metrics.go
 */
export const volumeMetrics = (registry: Registry): Pick<Metrics, 'storageOperation' | 'volumes' | 'orphansCleaned'> => {
  const registers = [registry];
  const operations = new Histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Seconds per operation on a volume.',
    labelNames: ['volume_plugin', 'operation_name', 'status', 'migrated'],
    buckets: OPERATION_BUCKETS,
    registers,
  });
  const volumes = new Gauge({
    name: 'volume_manager_total_volumes',
    help: 'Volumes by plugin, in the desired and in the actual state.',
    labelNames: ['plugin_name', 'state'],
    registers,
  });
  const orphans = new Gauge({
    name: 'kubelet_orphan_pod_cleaned_volumes',
    help: 'The total number of orphaned Pods whose volumes were cleaned in the last periodic sweep.',
    registers,
  });
  const failedOrphans = new Gauge({
    name: 'kubelet_orphan_pod_cleaned_volumes_errors',
    help: 'The number of orphaned Pods whose volumes failed to be cleaned in the last periodic sweep.',
    registers,
  });
  return {
    orphansCleaned: ({ pods, failed }) => {
      orphans.set(pods);
      failedOrphans.set(failed);
    },
    storageOperation: ({ plugin, operation, failed, seconds }) =>
      operations.observe(
        {
          volume_plugin: plugin,
          operation_name: operation,
          status: failed ? 'fail-unknown' : 'success',
          migrated: 'false',
        },
        seconds,
      ),
    volumes: (counts) => {
      volumes.reset();
      for (const { plugin, desired, actual } of counts) {
        volumes.set({ plugin_name: plugin, state: 'desired_state_of_world' }, desired);
        volumes.set({ plugin_name: plugin, state: 'actual_state_of_world' }, actual);
      }
    },
  };
};
