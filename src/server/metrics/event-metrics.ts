import { Counter, Gauge, type Registry } from 'prom-client';
import type { Metrics } from '../../streams/ports/metrics.js';

/** The metrics of events on their way to the API server; the kubelet has none of them. */
export const eventMetrics = (registry: Registry): Pick<Metrics, 'eventsQueued' | 'eventDropped'> => {
  const queued = new Gauge({
    name: 'rx_kubelet_queued_events',
    help: 'Events that wait for the API server.',
    registers: [registry],
  });
  const dropped = new Counter({
    name: 'rx_kubelet_dropped_events_total',
    help: 'Events that were dropped before the API server had them.',
    labelNames: ['reason'],
    registers: [registry],
  });
  return {
    eventsQueued: (count) => queued.set(count),
    eventDropped: (reason) => dropped.inc({ reason }),
  };
};
