import { describe, expect, it } from 'vitest';
import { configurationView } from '../../../src/cli/config/document/configuration-view.js';
import { loadConfiguration } from '../../../src/cli/config/load-configuration.js';
import { load, useConfigFolder, write } from './config-folder.js';

useConfigFolder();

/** The configuration of a file with this view: JSON is YAML, too. */
const reload = (view: object) =>
  loadConfiguration({ file: write('view.yaml', JSON.stringify(view)), directory: '', flags: {} }).config;

const TEXT = `
syncFrequency: 1m30s
evictionSoft: {memory.available: 200Mi}
evictionSoftGracePeriod: {memory.available: 1m}
authentication: {webhook: {cacheTTL: 10s}}
crashLoopBackOff: {maxContainerRestartPeriod: 2s}
logging: {flushFrequency: 3s}
featureGates: {EventedPLEG: true}
`;

describe('the view of a configuration', () => {
  it('is a file with the same effect', () => {
    const { config } = load(TEXT);
    const view = configurationView(config);
    expect(view).toMatchObject({
      kind: 'KubeletConfiguration',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      syncFrequency: '1m30s',
      port: 10_250,
      evictionSoftGracePeriod: { 'memory.available': '1m0s' },
      authentication: { webhook: { enabled: true, cacheTTL: '10s' } },
      logging: { flushFrequency: '3s' },
    });
    expect(reload(view)).toEqual(config);
  });

  it('has no field of its own making', () => {
    expect(JSON.stringify(configurationView(load(TEXT).config))).not.toMatch(/Ms"/);
  });

  it('hides what may be a secret', () => {
    const { config } = load(
      'staticPodURL: https://user:hunter2@host/pods\nstaticPodURLHeader: {Authorization: [Bearer hunter2]}',
    );
    const text = JSON.stringify(configurationView(config));
    expect(text).not.toContain('hunter2');
    expect(text).toContain('"Authorization":["<masked>"]');
    expect(text).toContain('@host/pods');
  });
});
