import { Counter, Gauge, type Registry } from 'prom-client';
import { secondsLeft } from '../model/certificates/client-certificate.js';
import type { Metrics } from '../streams/ports/metrics.js';

/**
 * The metrics of the client certificate. Its remaining time is computed at each scrape. `now` is in Unix milliseconds.
 *
 * Source: pkg/kubelet/certificate/kubelet.go, cmd/kubelet/app/server.go buildKubeletClientConfig
 */
export const certificateMetrics = (
  registry: Registry,
  now: () => number = Date.now,
): Pick<Metrics, 'clientCertificate' | 'clientCertificateFailed'> => {
  let notAfter: number | undefined;
  new Gauge({
    name: 'kubelet_certificate_manager_client_ttl_seconds',
    help: 'Seconds until the client certificate ends, negative once it has; +Inf without one.',
    registers: [registry],
    collect() {
      this.set(secondsLeft(notAfter, now()));
    },
  });
  const failed = new Counter({
    name: 'kubelet_certificate_manager_client_expiration_renew_errors',
    help: 'Attempts to get a client certificate that failed.',
    registers: [registry],
  });
  return {
    clientCertificate: (end) => {
      notAfter = end;
    },
    clientCertificateFailed: () => failed.inc(),
  };
};
