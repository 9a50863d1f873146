import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { eventMetrics } from '../../../src/server/metrics/event-metrics.js';

it('counts events on their way, and those that do not arrive by the reason', async () => {
  const registry = new Registry();
  const metrics = eventMetrics(registry);
  metrics.eventsQueued(7);
  metrics.eventsQueued(3);
  metrics.eventDropped('overflow');
  metrics.eventDropped('overflow');
  metrics.eventDropped('refused');
  const lines = (await registry.metrics()).split('\n');
  expect(lines).toContain('rx_kubelet_queued_events 3');
  expect(lines).toContain('rx_kubelet_dropped_events_total{reason="overflow"} 2');
  expect(lines).toContain('rx_kubelet_dropped_events_total{reason="refused"} 1');
});
