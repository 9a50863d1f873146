import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../../src/cli/config/load-configuration.js';
import { load, useConfigFolder, write } from './config-folder.js';

useConfigFolder();

describe('a zero', () => {
  const defaultsOfFile = () => load('').config;
  const written = readFileSync(new URL('kubeadm-config.yaml', import.meta.url), 'utf8');

  it('as kubeadm writes it for an unset field is no setting', () => {
    const defaults = defaultsOfFile();
    const { config, warnings } = loadConfiguration({ file: write('kubeadm.yaml', written), directory: '', flags: {} });
    expect(config).toEqual({
      ...defaults,
      ...{ cgroupDriver: 'systemd', clusterDNS: ['10.96.0.10'], clusterDomain: 'cluster.local' },
      ...{ resolvConf: '/run/systemd/resolve/resolv.conf', rotateCertificates: true },
      ...{ staticPodPath: '/etc/kubernetes/manifests' },
      authentication: { ...defaults.authentication, x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' } },
      logging: { ...defaults.logging, options: config.logging.options },
    });
    expect(warnings).toEqual([]);
  });

  it.each([
    ...[
      ...['syncFrequency', 'fileCheckFrequency', 'httpCheckFrequency', 'streamingConnectionIdleTimeout'],
      ...['nodeStatusUpdateFrequency', 'nodeStatusReportFrequency', 'volumeStatsAggPeriod', 'imageMinimumGCAge'],
      ...['imageMaximumGCAge', 'cpuManagerReconcilePeriod', 'runtimeRequestTimeout', 'shutdownGracePeriod'],
      ...['evictionPressureTransitionPeriod', 'shutdownGracePeriodCriticalPods'],
    ].flatMap((field) => [`${field}: 0s`, `${field}: "0"`, `${field}: 0h0m`]),
    ...['port', 'maxPods', 'maxOpenFiles', 'registryBurst', 'eventBurst', 'kubeAPIBurst'].map((field) => `${field}: 0`),
    ...['nodeLeaseDurationSeconds: 0', 'logging: {flushFrequency: 0, format: ""}'],
    ...['address', 'healthzBindAddress', 'containerLogMaxSize', 'hairpinMode', 'cgroupDriver', 'cpuManagerPolicy'].map(
      (field) => `${field}: ""`,
    ),
    ...['memoryManagerPolicy', 'topologyManagerPolicy', 'topologyManagerScope', 'memoryReservationPolicy'].map(
      (field) => `${field}: ""`,
    ),
    ...['configMapAndSecretChangeDetectionStrategy', 'imagePullCredentialsVerificationPolicy', 'contentType'].map(
      (field) => `${field}: ""`,
    ),
    'authentication: {webhook: {cacheTTL: 0s}}',
    'authorization: {mode: "", webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}}',
  ])('%s is the default', (text) => {
    expect(load(text).config).toEqual(defaultsOfFile());
  });

  it.each([
    ['healthzPort: 0', 'healthzPort', 0],
    ['registryPullQPS: 0', 'registryPullQPS', 0],
    ['eventRecordQPS: 0', 'eventRecordQPS', 0],
    ['kubeAPIQPS: 0', 'kubeAPIQPS', 0],
    ['nodeStatusMaxImages: 0', 'nodeStatusMaxImages', 0],
    ['oomScoreAdj: 0', 'oomScoreAdj', 0],
    ['iptablesDropBit: 0', 'iptablesDropBit', 0],
    ['resolvConf: ""', 'resolvConf', ''],
    ['podPidsLimit: 0', 'podPidsLimit', 0],
    ['enforceNodeAllocatable: []', 'enforceNodeAllocatable', []],
  ] as const)('%s is meant', (text, field, value) => {
    expect(load(text).config[field]).toEqual(value);
  });

  it('in both periods of the status is the default of both', () => {
    const { config } = load('nodeStatusUpdateFrequency: 0s\nnodeStatusReportFrequency: 0s');
    expect([config.nodeStatusUpdateFrequencyMs, config.nodeStatusReportFrequencyMs]).toEqual([10_000, 300_000]);
    expect(
      load('nodeStatusUpdateFrequency: 7s\nnodeStatusReportFrequency: 0s').config.nodeStatusReportFrequencyMs,
    ).toBe(7000);
  });

  it('of a flag is meant, and refused where nothing can work with it', () => {
    expect(() => load('', { syncFrequency: '0s' })).toThrow('syncFrequency 0s must be greater than 0');
  });
});
