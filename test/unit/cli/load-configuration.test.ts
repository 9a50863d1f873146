import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cgroupOptions } from '../../../src/cli/config/settings/cgroup-options.js';
import { loadConfiguration } from '../../../src/cli/config/load-configuration.js';
import type { JsonObject } from '../../../src/cli/config/document/merge-patch.js';
import { folder, HEAD, load, useConfigFolder, write } from './config-folder.js';

useConfigFolder();

const withoutFile = (flags: JsonObject = {}) => loadConfiguration({ file: '', directory: '', flags });

describe('defaults', () => {
  it.each([
    ['syncFrequencyMs', 60_000],
    ['fileCheckFrequencyMs', 20_000],
    ['httpCheckFrequencyMs', 20_000],
    ['healthzPort', 10_248],
    ['healthzBindAddress', '127.0.0.1'],
    ['containerRuntimeEndpoint', ''],
    ['runtimeRequestTimeoutMs', 120_000],
    ['crashLoopBackOff', { maxContainerRestartPeriodMs: 300_000 }],
    ['logging', { format: '', flushFrequencyMs: 5000, verbosity: 0, vmodule: [], options: {} }],
    ['maxPods', 110],
    ['serializeImagePulls', true],
    ['nodeStatusReportFrequencyMs', 300_000],
    ['resolvConf', '/etc/resolv.conf'],
  ] as const)('%s is %j with and without a file', (field, value) => {
    expect(withoutFile().config[field]).toEqual(value);
    expect(load('').config[field]).toEqual(value);
  });

  it('give no client access by themselves, with and without a file', () => {
    for (const { config } of [withoutFile(), load('')]) {
      expect([config.authentication.anonymous.enabled, config.authentication.webhook.enabled]).toEqual([false, true]);
      expect([config.authorization.mode, config.readOnlyPort]).toEqual(['Webhook', 0]);
    }
  });

  it('of hard eviction are those of the kubelet with a file alone', () => {
    expect(withoutFile().config.evictionHard).toEqual({});
    expect(load('').config.evictionHard['memory.available']).toBe('100Mi');
  });

  it.each([
    ['maxParallelImagePulls: 3', 'serializeImagePulls', false],
    ['nodeStatusUpdateFrequency: 7s', 'nodeStatusReportFrequencyMs', 7000],
    ['podPidsLimit: -5', 'podPidsLimit', -1],
    ['evictionHard: {memory.available: 1Gi}', 'evictionHard', { 'memory.available': '1Gi' }],
    [
      'mergeDefaultEvictionSettings: true\nevictionHard: {memory.available: 1Gi, pid.available: 5%}',
      'evictionHard',
      {
        ...{ 'memory.available': '1Gi', 'pid.available': '5%', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
        ...{ 'imagefs.available': '15%', 'imagefs.inodesFree': '5%' },
      },
    ],
    ['syncFrequency: null', 'syncFrequencyMs', 60_000],
  ] as const)('%s makes %s %j', (text, field, value) => {
    expect(load(text).config[field]).toEqual(value);
  });
});

describe('a file', () => {
  it('may be JSON', () => {
    const file = write(
      'config.json',
      '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","syncFrequency":"1m30s"}',
    );
    expect(loadConfiguration({ file, directory: '', flags: {} }).config.syncFrequencyMs).toBe(90_000);
  });

  it('is read as Go reads YAML: texts that look like numbers to other readers are texts', () => {
    const { config } = load('clusterDomain: e1\nnodeStatusMaxImages: 0o17');
    expect([config.clusterDomain, config.nodeStatusMaxImages]).toEqual(['e1', 15]);
  });

  it('has its relative paths resolved against its folder', () => {
    const { config } = load(
      'staticPodPath: pods\npodLogsDir: logs\nresolvConf: ""\ntlsCertFile: /abs\ntlsPrivateKeyFile: key\nauthentication: {x509: {clientCAFile: ca.crt}}\n',
    );
    expect(config.staticPodPath).toBe(join(folder(), 'pods'));
    expect(config.podLogsDir).toBe(join(folder(), 'logs'));
    expect(config.authentication.x509.clientCAFile).toBe(join(folder(), 'ca.crt'));
    expect([config.resolvConf, config.tlsCertFile]).toEqual(['', '/abs']);
    expect(config.tlsPrivateKeyFile).toBe(join(folder(), 'key'));
  });

  it('loads with unknown fields, which are named with their place and what was meant', () => {
    const { config, warnings } = load('syncFrequncy: 10s\nhealthzPort: 1\nlogging: {verbsity: 3}\nxyz: 1\n');
    expect(config.healthzPort).toBe(1);
    expect(warnings).toEqual([
      `${folder()}/config.yaml:3:1: syncFrequncy: unknown field, did you mean "syncFrequency"?`,
      `${folder()}/config.yaml:5:11: logging.verbsity: unknown field, did you mean "verbosity"?`,
      `${folder()}/config.yaml:6:1: xyz: unknown field`,
    ]);
  });

  it('says once which of its fields have no effect yet', () => {
    expect(load('maxOpenFiles: 20\nhairpinMode: none\nmaxPods: 20\nsyncFrequency: 1m\n').warnings).toEqual([
      'configuration fields without effect in this version: hairpinMode, maxOpenFiles',
    ]);
    expect(load('').warnings).toEqual([]);
  });

  it.each([
    ['healthzPort: many', '3:14: healthzPort: expected number, received string'],
    ['syncFrequency: 10', '3:16: syncFrequency: expected string, received number'],
    ['syncFrequency: 10x', '3:16: syncFrequency: time: invalid duration "10x", expected one such as 1m30s'],
    [
      'crashLoopBackOff:\n  maxContainerRestartPeriod: 1',
      '4:30: crashLoopBackOff.maxContainerRestartPeriod: expected string',
    ],
    ['clusterDNS: [1.2.3.4, 5]', '3:23: clusterDNS[1]: expected string, received number'],
    ['maxPods: 1\nmaxPods: 2', '4:1: '],
    ['a: [', '3:'],
  ])('with %j is refused at its line', (text, message) => {
    const place = `failed to load kubelet config file, path: ${folder()}/config.yaml, error: ${folder()}/config.yaml:`;
    expect(() => load(text)).toThrow(place + message);
  });

  it.each([
    ['', 'was empty'],
    ['kind: KubeletConfiguration', ':1:1: apiVersion: is missing, expected "kubelet.config.k8s.io/v1beta1"'],
    [
      'apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration',
      ':1:13: apiVersion: is "kubelet.config.k8s.io/v1", expected "kubelet.config.k8s.io/v1beta1"',
    ],
    [HEAD.replace('KubeletConfiguration', 'Pod'), ':2:7: kind: is "Pod", expected "KubeletConfiguration"'],
    ['- 1', ':1:1: expected a KubeletConfiguration object, found a list'],
    [`${HEAD}---\n${HEAD}`, ': holds 2 documents, expected one KubeletConfiguration'],
  ])('that is %j is refused', (text, message) => {
    const file = write('odd.yaml', text);
    expect(() => loadConfiguration({ file, directory: '', flags: {} })).toThrow(message);
  });

  it('that does not exist is named', () => {
    const file = join(folder(), 'nowhere.yaml');
    expect(() => loadConfiguration({ file, directory: '', flags: {} })).toThrow(`path: ${file}, error: ENOENT`);
  });
});

describe('precedence', () => {
  const dropIn = (name: string, text: string) => {
    mkdirSync(join(folder(), 'conf.d', 'sub'), { recursive: true });
    write(join('conf.d', name), text);
  };
  const loadAll = (text: string, flags: JsonObject = {}) =>
    loadConfiguration({ file: write('config.yaml', HEAD + text), directory: join(folder(), 'conf.d'), flags });

  it('is defaults, file, drop-ins in their order, flags', () => {
    dropIn('10.conf', `${HEAD}syncFrequency: 2s\nfileCheckFrequency: 2s\nhttpCheckFrequency: 2s\n`);
    dropIn('20.conf', `${HEAD}fileCheckFrequency: 3s\nhttpCheckFrequency: 3s\n`);
    dropIn('ignored.yaml', 'not: [even, yaml');
    dropIn('sub/30.conf', `${HEAD}httpCheckFrequency: 4s\n`);
    const { config } = loadAll('syncFrequency: 1s\nhealthzPort: 1\n', { healthzPort: 5 });
    expect(config).toMatchObject({
      syncFrequencyMs: 2000,
      fileCheckFrequencyMs: 3000,
      httpCheckFrequencyMs: 4000,
      healthzPort: 5,
    });
  });

  it('drop-ins whose names are not UTF-8 are read in the order of their bytes, and other files are ignored', () => {
    dropIn('10.conf', `${HEAD}syncFrequency: 2s\n`);
    const directory = join(folder(), 'conf.d');
    const named = (name: string, text: string) => writeFileSync(Buffer.from(`${directory}/${name}`, 'latin1'), text);
    named('20\xfe.conf', `${HEAD}syncFrequency: 3s\nfileCheckFrequency: 3s\n`);
    named('20\xff.conf', `${HEAD}syncFrequency: 4s\n`);
    named('\xff.yaml', 'not: [even, yaml');
    expect(loadAll('').config).toMatchObject({ syncFrequencyMs: 4000, fileCheckFrequencyMs: 3000 });
  });

  it('merges maps of drop-ins by key, replaces lists, and lets null give the default back', () => {
    dropIn('10.conf', `${HEAD}evictionHard: {memory.available: 1Gi}\nclusterDNS: [b]\nsyncFrequency: null\n`);
    const { config } = loadAll('clusterDNS: [a, c]\nsyncFrequency: 1s\n');
    expect(config.evictionHard).toMatchObject({ 'memory.available': '1Gi', 'nodefs.available': '10%' });
    expect([config.clusterDNS, config.syncFrequencyMs]).toEqual([['b'], 60_000]);
  });

  it('unites the feature gates of file and flags', () => {
    const { config } = load('featureGates: {EventedPLEG: true, PodsAPI: true}', {
      featureGates: { EventedPLEG: false },
    });
    expect(config.featureGates).toEqual({ EventedPLEG: false, PodsAPI: true });
  });

  it('replaces other maps as a whole by flags', () => {
    const { config } = load('staticPodURLHeader: {A: [x], B: [w]}', { staticPodURLHeader: { A: ['z'] } });
    expect(config.staticPodURLHeader).toEqual({ A: ['z'] });
  });

  it.each([
    ['', 'no apiVersion/kind'],
    ['kind: Pod\n', 'apiVersion: is missing'],
    [`${HEAD}maxPods: x\n`, '10.conf:3:10: maxPods: expected number'],
  ])('refuses the drop-in %j', (text, message) => {
    dropIn('10.conf', text);
    expect(() => loadAll('')).toThrow(`failed to load kubelet dropin file, path: ${folder()}/conf.d/10.conf`);
    expect(() => loadAll('')).toThrow(message);
  });

  it('refuses a folder of drop-ins that does not exist', () => {
    expect(() => loadAll('')).toThrow(
      `failed to merge kubelet configs: failed to walk through kubelet dropin directory "${folder()}/conf.d": ENOENT`,
    );
  });
});

describe('cgroups of pods', () => {
  const endpoint = 'containerRuntimeEndpoint: /run/containerd.sock';
  it.each([
    ['', undefined],
    ['cgroupRoot: /', []],
    ['cgroupRoot: /mine', ['mine']],
    [endpoint, []],
    [`${endpoint}\ncgroupRoot: /a/b`, ['a', 'b']],
  ])('with %j are made below %j', (text, root) => {
    expect(cgroupOptions(load(text).config)?.settings.root).toEqual(root);
  });

  it('are made as the configuration says', () => {
    const text = 'podPidsLimit: 9\ncgroupDriver: systemd\nsystemReserved: {cpu: 1}\nenforceNodeAllocatable: [none]';
    expect(() => load(`${endpoint}\n${text}`)).toThrow('systemReserved.cpu: expected string, received number');
    expect(cgroupOptions(load(`${endpoint}\n${text.replace('1}', '"1"}')}`).config)).toEqual({
      driver: 'systemd',
      settings: {
        ...{ root: [], podPidsLimit: 9, enforced: [] },
        ...{ systemReserved: { cpu: '1' }, kubeReserved: {}, systemReservedCgroup: '', kubeReservedCgroup: '' },
      },
    });
  });

  it('under cgroup v1 are refused only when that is asked for', () => {
    expect(load('').config.failCgroupV1).toBe(false);
    expect(load('failCgroupV1: true').config.failCgroupV1).toBe(true);
  });
});
