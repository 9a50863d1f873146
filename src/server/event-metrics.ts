import { Counter, Gauge, type Registry } from 'prom-client';
import type { Metrics } from '../streams/ports.js';

/** What becomes of events on their way to the API server; none of it has a name of the kubelet. */
export const eventMetrics = (registry: Registry): Pick<Metrics, 'eventsQueued' | 'eventDropped'> => {
  const queued = new Gauge({
    name: 'rx_kubelet_queued_events',
    help: 'Events that wait for the API server.',
    registers: [registry],
  });
  const dropped = new Counter({
    name: 'rx_kubelet_dropped_events_total',
    help: 'Events that the API server will not have.',
    labelNames: ['reason'],
    registers: [registry],
  });
  return {
    eventsQueued: (count) => queued.set(count),
    eventDropped: (reason) => dropped.inc({ reason }),
  };
};
