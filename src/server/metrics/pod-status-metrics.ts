import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Metrics } from '../../streams/ports/metrics.js';

const POD_START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];
const STATUS_SYNC_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60];

/**
 * The metrics of pod statuses in the API.
 *
 * Source: pkg/kubelet/metrics/metrics.go
 */
export const podStatusMetrics = (
  registry: Registry,
): Pick<
  Metrics,
  'podStatusSynced' | 'mirrorPods' | 'podStartObserved' | 'podStartWithoutPulls' | 'firstNetworkPodStart'
> => {
  const registers = [registry];
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, buckets, registers });
  const synced = histogram(
    'kubelet_pod_status_sync_duration_seconds',
    'Seconds from a change of a pod status to the API having it.',
    STATUS_SYNC_BUCKETS,
  );
  const total = histogram(
    'kubelet_pod_start_total_duration_seconds',
    'Seconds from the creation of a pod to the watch showing its containers running.',
    POD_START_BUCKETS,
  );
  const sli = histogram(
    'kubelet_pod_start_sli_duration_seconds',
    'The same without image pulls and init containers, of pods without a state of their own.',
    POD_START_BUCKETS,
  );
  const first = new Gauge({
    name: 'kubelet_first_network_pod_start_sli_duration_seconds',
    help: 'The same of the first pod with a network of its own.',
    registers,
  });
  const mirrors = new Gauge({ name: 'kubelet_mirror_pods', help: 'Mirrors of static pods in the API.', registers });
  return {
    podStatusSynced: (seconds) => synced.observe(seconds),
    podStartObserved: (seconds) => total.observe(seconds),
    podStartWithoutPulls: (seconds) => sli.observe(seconds),
    firstNetworkPodStart: (seconds) => first.set(seconds),
    mirrorPods: (count) => mirrors.set(count),
  };
};
