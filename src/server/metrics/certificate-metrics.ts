import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { secondsLeft } from '../../model/certificates/node-certificate.js';
import type { Metrics } from '../../streams/ports/metrics.js';

type CertificateMetrics = Pick<
  Metrics,
  | 'clientCertificate'
  | 'clientCertificateFailed'
  | 'servingCertificate'
  | 'servingCertificateFailed'
  | 'servingCertificateRotated'
  | 'podCertificates'
>;

/**
 * The metrics of the certificates of the node. The remaining time is computed at each scrape. `now` is in Unix milliseconds.
 *
 * Source: pkg/kubelet/certificate/kubelet.go, pkg/kubelet/metrics/collectors, cmd/kubelet/app/server.go buildKubeletClientConfig
 */
export const certificateMetrics = (registry: Registry, now: () => number = Date.now): CertificateMetrics => {
  const registers = [registry];
  const timeLeft = (name: string, of: string) => {
    let notAfter: number | undefined;
    new Gauge({
      name,
      help: `Seconds until the ${of} certificate ends, negative once it has; +Inf without one.`,
      registers,
      collect() {
        this.set(secondsLeft(notAfter, now()));
      },
    });
    return (end: number | undefined): void => {
      notAfter = end;
    };
  };
  const clientFailed = new Counter({
    name: 'kubelet_certificate_manager_client_expiration_renew_errors',
    help: 'Attempts to get a client certificate that failed.',
    registers,
  });
  const servingFailed = new Counter({
    name: 'kubelet_server_expiration_renew_errors',
    help: 'Attempts to get a serving certificate that failed.',
    registers,
  });
  const rotated = new Histogram({
    name: 'kubelet_certificate_manager_server_rotation_seconds',
    help: 'Age of serving certificates when they were replaced.',
    buckets: [60, 3_600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000],
    registers,
  });
  const podStates = new Gauge({
    name: 'kubelet_podcertificate_states',
    help: 'Gauge vector reporting the number of pod certificate projected volume sources, faceted by signer_name and state.',
    labelNames: ['signer_name', 'state'],
    registers,
  });
  return {
    podCertificates: (counts) => {
      podStates.reset();
      for (const { signerName, state, count } of counts) podStates.set({ signer_name: signerName, state }, count);
    },
    clientCertificate: timeLeft('kubelet_certificate_manager_client_ttl_seconds', 'client'),
    clientCertificateFailed: () => clientFailed.inc(),
    servingCertificate: timeLeft('kubelet_certificate_manager_server_ttl_seconds', 'serving'),
    servingCertificateFailed: () => servingFailed.inc(),
    servingCertificateRotated: (seconds) => rotated.observe(seconds),
  };
};
