import type { RequestListener } from 'node:http';
import { performance } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { requestLabels, type RequestLabels } from '../../model/server/request-labels.js';
import { requestPath } from '../../model/server/request-path.js';

/** Counts the requests that it passes on. */
export type CountRequests = (serverType: RequestLabels['server_type'], answer: RequestListener) => RequestListener;

/**
 * The metrics of requests to the kubelet API, counted before their authentication. A request lasts until its connection
 * has the whole reply, or ends.
 *
 * Source: pkg/kubelet/server/metrics/metrics.go, pkg/kubelet/server/server.go ServeHTTP
 */
export const requestMetrics = (registry: Registry): CountRequests => {
  const registers = [registry];
  const labelNames = ['method', 'path', 'server_type', 'long_running'] as const;
  const total = new Counter({ name: 'kubelet_http_requests_total', help: 'HTTP requests.', labelNames, registers });
  const seconds = new Histogram({
    name: 'kubelet_http_requests_duration_seconds',
    help: 'Seconds until the reply to an HTTP request was complete.',
    labelNames,
    registers,
  });
  const inFlight = new Gauge({
    name: 'kubelet_http_inflight_requests',
    help: 'HTTP requests without a complete reply.',
    labelNames,
    registers,
  });
  return (serverType, answer) => (request, response) => {
    const labels = { ...requestLabels(request.method ?? '', requestPath(request.url ?? '') ?? '', serverType) };
    const startedAt = performance.now();
    total.inc(labels);
    inFlight.inc(labels);
    response.once('close', () => {
      inFlight.dec(labels);
      seconds.observe(labels, (performance.now() - startedAt) / 1_000);
    });
    answer(request, response);
  };
};

/**
 * Makes a function that counts a stream over a WebSocket that is converted to SPDY.
 *
 * Source: pkg/kubelet/metrics/metrics.go kubelet_websocket_streaming_requests_total
 */
export const conversionMetric = (registry: Registry): ((subresource: string) => void) => {
  const total = new Counter({
    name: 'kubelet_websocket_streaming_requests_total',
    help: 'Streams over WebSockets that the agent converted to SPDY.',
    labelNames: ['subresource'],
    registers: [registry],
  });
  return (subresource) => total.inc({ subresource });
};
