import { Counter, exponentialBuckets, Gauge, Histogram, type Registry } from 'prom-client';
import type { Metrics } from '../../streams/ports/metrics.js';

/**
 * Resizes: what was asked for, what waits, and how long the writes took.
 *
 * Source: pkg/kubelet/metrics/metrics.go
 */
export const resizeMetrics = (
  registry: Registry,
): Pick<Metrics, 'resizeRequested' | 'resizes' | 'resizeInfeasible' | 'deferredResizeAccepted' | 'resizeActuated'> => {
  const registers = [registry];
  const requested = new Counter({
    name: 'kubelet_container_requested_resizes_total',
    help: 'Number of requested resizes of containers, by resource, requirement and operation.',
    labelNames: ['resource', 'requirement', 'operation'],
    registers,
  });
  const pending = new Gauge({
    name: 'kubelet_pod_pending_resizes',
    help: 'Number of pods whose resize waits, by reason.',
    labelNames: ['reason'],
    registers,
  });
  const inProgress = new Gauge({
    name: 'kubelet_pod_in_progress_resizes',
    help: 'Number of pods whose resize is in progress.',
    registers,
  });
  const infeasible = new Counter({
    name: 'kubelet_pod_infeasible_resizes_total',
    help: 'Number of resizes that this node cannot do, by the detail of the reason.',
    labelNames: ['reason_detail'],
    registers,
  });
  const accepted = new Counter({
    name: 'kubelet_pod_deferred_accepted_resizes_total',
    help: 'Number of resizes that were done after a wait, by what had them tried.',
    labelNames: ['retry_trigger'],
    registers,
  });
  const duration = new Histogram({
    name: 'kubelet_pod_resize_duration_milliseconds',
    help: 'Duration of the writes of a resize, in milliseconds, by success.',
    buckets: exponentialBuckets(10, 2, 19),
    labelNames: ['success'],
    registers,
  });
  return {
    resizeRequested: ({ resource, requirement, operation }) => requested.inc({ resource, requirement, operation }),
    resizes: (counts) => {
      pending.set({ reason: 'deferred' }, counts.deferred);
      pending.set({ reason: 'infeasible' }, counts.infeasible);
      inProgress.set(counts.inProgress);
    },
    resizeInfeasible: (detail) => infeasible.inc({ reason_detail: detail }),
    deferredResizeAccepted: (trigger) => accepted.inc({ retry_trigger: trigger }),
    resizeActuated: (milliseconds, isSuccess) => duration.observe({ success: String(isSuccess) }, milliseconds),
  };
};
