import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { resizeMetrics } from '../../../src/server/metrics/resize-metrics.js';

it('the metrics of resizes have the names and labels of the kubelet', async () => {
  const registry = new Registry();
  const metrics = resizeMetrics(registry);
  metrics.resizeRequested({ resource: 'cpu', requirement: 'limits', operation: 'increase' });
  metrics.resizes({ deferred: 2, infeasible: 1, inProgress: 3 });
  metrics.resizeInfeasible('plr_feature_gate_off');
  metrics.deferredResizeAccepted('pods_removed');
  metrics.resizeActuated(15, true);
  metrics.resizeActuated(5_000_000, false);
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const isBound = (line: string): boolean => /le="(?!20"|2621440"|\+Inf")/.test(line);
  expect(lines.filter((line) => !isBound(line))).toEqual([
    'kubelet_container_requested_resizes_total{resource="cpu",requirement="limits",operation="increase"} 1',
    'kubelet_pod_pending_resizes{reason="deferred"} 2',
    'kubelet_pod_pending_resizes{reason="infeasible"} 1',
    'kubelet_pod_in_progress_resizes 3',
    'kubelet_pod_infeasible_resizes_total{reason_detail="plr_feature_gate_off"} 1',
    'kubelet_pod_deferred_accepted_resizes_total{retry_trigger="pods_removed"} 1',
    'kubelet_pod_resize_duration_milliseconds_bucket{le="20",success="true"} 1',
    'kubelet_pod_resize_duration_milliseconds_bucket{le="2621440",success="true"} 1',
    'kubelet_pod_resize_duration_milliseconds_bucket{le="+Inf",success="true"} 1',
    'kubelet_pod_resize_duration_milliseconds_sum{success="true"} 15',
    'kubelet_pod_resize_duration_milliseconds_count{success="true"} 1',
    'kubelet_pod_resize_duration_milliseconds_bucket{le="20",success="false"} 0',
    'kubelet_pod_resize_duration_milliseconds_bucket{le="2621440",success="false"} 0',
    'kubelet_pod_resize_duration_milliseconds_bucket{le="+Inf",success="false"} 1',
    'kubelet_pod_resize_duration_milliseconds_sum{success="false"} 5000000',
    'kubelet_pod_resize_duration_milliseconds_count{success="false"} 1',
  ]);
});
