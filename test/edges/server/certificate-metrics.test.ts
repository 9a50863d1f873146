import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { certificateMetrics } from '../../../src/server/metrics/certificate-metrics.js';

const TTL = 'kubelet_certificate_manager_client_ttl_seconds';

it('counts down to the end of the client certificate at each scrape, and below zero after it', async () => {
  const registry = new Registry();
  let now = 1_000;
  const metrics = certificateMetrics(registry, () => now);
  const lines = async (): Promise<string[]> => (await registry.metrics()).split('\n');
  // What a kubelet says that has no certificate.
  expect(await lines()).toContain(`${TTL} +Inf`);
  metrics.clientCertificate(61_000);
  expect(await lines()).toContain(`${TTL} 60`);
  now = 71_000;
  expect(await lines()).toContain(`${TTL} -10`);
  metrics.clientCertificate(undefined);
  expect(await lines()).toContain(`${TTL} +Inf`);
});

it('counts attempts to get a client certificate that failed', async () => {
  const registry = new Registry();
  certificateMetrics(registry).clientCertificateFailed();
  expect((await registry.metrics()).split('\n')).toContain(
    'kubelet_certificate_manager_client_expiration_renew_errors 1',
  );
});

it('says of the serving certificate when it ends, how old it was when replaced, and what failed', async () => {
  const registry = new Registry();
  const metrics = certificateMetrics(registry, () => 1_000);
  metrics.servingCertificate(61_000);
  metrics.servingCertificateFailed();
  metrics.servingCertificateRotated(61);
  expect((await registry.metrics()).split('\n')).toEqual(
    expect.arrayContaining([
      'kubelet_certificate_manager_server_ttl_seconds 60',
      'kubelet_server_expiration_renew_errors 1',
      'kubelet_certificate_manager_server_rotation_seconds_bucket{le="60"} 0',
      'kubelet_certificate_manager_server_rotation_seconds_bucket{le="3600"} 1',
      'kubelet_certificate_manager_server_rotation_seconds_sum 61',
    ]),
  );
});

it('counts the certificates of pods by signer and state, and forgets those of before', async () => {
  const registry = new Registry();
  const { podCertificates } = certificateMetrics(registry);
  const lines = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('kubelet_podcertificate_states'));
  podCertificates([
    { signerName: 'a/b', state: 'fresh', count: 2 },
    { signerName: 'c/d', state: 'denied', count: 1 },
  ]);
  expect(await lines()).toEqual([
    'kubelet_podcertificate_states{signer_name="a/b",state="fresh"} 2',
    'kubelet_podcertificate_states{signer_name="c/d",state="denied"} 1',
  ]);
  podCertificates([{ signerName: 'a/b', state: 'expired', count: 2 }]);
  expect(await lines()).toEqual(['kubelet_podcertificate_states{signer_name="a/b",state="expired"} 2']);
});
