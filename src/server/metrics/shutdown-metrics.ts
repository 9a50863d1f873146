import { Gauge, type Registry } from 'prom-client';
import { shutdownTimestamps } from '../../model/shutdown/shutdown-state.js';
import type { Metrics } from '../../streams/ports/metrics.js';

/**
 * The times of the newest shutdown of the node; 0 before the first, and for the end of one that has not ended.
 *
 * Source: pkg/kubelet/metrics/metrics.go GracefulShutdownStartTime, GracefulShutdownEndTime
 */
export const shutdownMetrics = (registry: Registry): Pick<Metrics, 'nodeShutdown'> => {
  const registers = [registry];
  const start = new Gauge({
    name: 'kubelet_graceful_shutdown_start_time_seconds',
    help: 'Start of the newest shutdown of the node, in seconds since the epoch.',
    registers,
  });
  const end = new Gauge({
    name: 'kubelet_graceful_shutdown_end_time_seconds',
    help: 'End of the newest shutdown of the node, in seconds since the epoch.',
    registers,
  });
  return {
    nodeShutdown: (state) => {
      const times = shutdownTimestamps(state);
      start.set(times.start);
      end.set(times.end);
    },
  };
};
