import { Counter, Histogram, type Registry } from 'prom-client';
import type { Metrics } from '../../streams/ports/metrics.js';

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/**
 * The metrics of requests to the API server, which every client of Kubernetes has.
 *
 * Source: staging/src/k8s.io/component-base/metrics/prometheus/restclient/metrics.go
 */
export const apiMetrics = (registry: Registry): Pick<Metrics, 'apiAttempt' | 'apiRequest' | 'apiThrottled'> => {
  const registers = [registry];
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, buckets: SECONDS, labelNames: ['verb', 'host'], registers });
  const attempts = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by the code of the reply; <error> when there was none.',
    labelNames: ['code', 'method', 'host'],
    registers,
  });
  const requestSeconds = histogram(
    'rest_client_request_duration_seconds',
    'Seconds that requests to the API server took, with what they waited for.',
  );
  const throttledSeconds = histogram(
    'rest_client_rate_limiter_duration_seconds',
    'Seconds that requests to the API server waited for their turn.',
  );
  return {
    apiAttempt: (method, host, code) => attempts.inc({ code: code ?? '<error>', method, host }),
    apiRequest: (verb, host, seconds) => requestSeconds.observe({ verb, host }, seconds),
    apiThrottled: (verb, host, seconds) => throttledSeconds.observe({ verb, host }, seconds),
  };
};
