import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cgroupOptions } from '../../../src/cli/config/cgroup-options.js';
import { loadConfiguration } from '../../../src/cli/config/load-configuration.js';
import type { JsonObject } from '../../../src/cli/config/merge-patch.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const load = (text: string, flags: JsonObject = {}) =>
  loadConfiguration({ file: write('config.yaml', HEAD + text), directory: '', flags });

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
    ['logging', { format: 'text', flushFrequencyMs: 5000, verbosity: 0, vmodule: [], options: {} }],
    ['maxPods', 110],
    ['serializeImagePulls', true],
    ['nodeStatusReportFrequencyMs', 300_000],
    ['resolvConf', '/etc/resolv.conf'],
  ] as const)('%s is %j with and without a file', (field, value) => {
    expect(withoutFile().config[field]).toEqual(value);
    expect(load('').config[field]).toEqual(value);
  });

  it('are the legacy ones without a file', () => {
    const bare = withoutFile().config;
    expect([bare.authentication.anonymous.enabled, bare.authentication.webhook.enabled]).toEqual([true, false]);
    expect([bare.authorization.mode, bare.readOnlyPort, bare.evictionHard]).toEqual(['AlwaysAllow', 10_255, {}]);
    const { config } = load('');
    expect([config.authentication.anonymous.enabled, config.authentication.webhook.enabled]).toEqual([false, true]);
    expect([config.authorization.mode, config.readOnlyPort]).toEqual(['Webhook', 0]);
    expect(config.evictionHard['memory.available']).toBe('100Mi');
  });

  it.each([
    ['maxParallelImagePulls: 3', 'serializeImagePulls', false],
    ['nodeStatusUpdateFrequency: 7s', 'nodeStatusReportFrequencyMs', 7000],
    ['podPidsLimit: -5', 'podPidsLimit', -1],
    ['evictionHard: {memory.available: 1Gi}', 'evictionHard', { 'memory.available': '1Gi' }],
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

  it('has its relative paths resolved against its folder', () => {
    const { config } = load(
      'staticPodPath: pods\npodLogsDir: logs\nresolvConf: ""\ntlsCertFile: /abs\nauthentication: {x509: {clientCAFile: ca.crt}}\n',
    );
    expect(config.staticPodPath).toBe(join(folder, 'pods'));
    expect(config.podLogsDir).toBe(join(folder, 'logs'));
    expect(config.authentication.x509.clientCAFile).toBe(join(folder, 'ca.crt'));
    expect([config.resolvConf, config.tlsCertFile]).toEqual(['', '/abs']);
  });

  it('loads with unknown fields, which are named with their place and what was meant', () => {
    const { config, warnings } = load('syncFrequncy: 10s\nhealthzPort: 1\nlogging: {verbsity: 3}\nxyz: 1\n');
    expect(config.healthzPort).toBe(1);
    expect(warnings).toEqual([
      `${folder}/config.yaml:3:1: syncFrequncy: unknown field, did you mean "syncFrequency"?`,
      `${folder}/config.yaml:5:11: logging.verbsity: unknown field, did you mean "verbosity"?`,
      `${folder}/config.yaml:6:1: xyz: unknown field`,
    ]);
  });

  it('says once which of its fields have no effect yet', () => {
    expect(load('maxOpenFiles: 20\naddress: 0.0.0.0\nmaxPods: 20\nsyncFrequency: 1m\n').warnings).toEqual([
      'configuration fields without effect in this version: address, maxOpenFiles',
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
    const place = `failed to load kubelet config file, path: ${folder}/config.yaml, error: ${folder}/config.yaml:`;
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
    const file = join(folder, 'nowhere.yaml');
    expect(() => loadConfiguration({ file, directory: '', flags: {} })).toThrow(`path: ${file}, error: ENOENT`);
  });
});

describe('values', () => {
  it.each([
    ['maxPods: -1', 'maxPods (--max-pods) -1 must not be a negative number'],
    ['healthzPort: 70000', 'healthzPort (--healthz-port) 70000 must be between 1 and 65535, inclusive'],
    ['podLogsDir: /a/../b', 'pod logs path "/a/../b" must be normalized'],
    ['podLogsDir: /lögs', 'pod logs path "/lögs" mut contains ASCII characters only'],
    [
      'crashLoopBackOff: {maxContainerRestartPeriod: 500ms}',
      'CrashLoopBackOff.MaxContainerRestartPeriod (got: 0.5 seconds) must be set between 1s and 300s',
    ],
    ['containerLogMaxFiles: 1', 'containerLogMaxFiles must be greater than 1'],
    ['containerLogMaxWorkers: 0', 'containerLogMaxWorkers must be greater than or equal to 1'],
    [
      'containerLogMonitorInterval: 2999ms',
      'containerLogMonitorInterval must be a positive time duration greater than or equal to 3s',
    ],
    [
      'containerLogMaxSize: 10MB',
      'containerLogMaxSize: failed to parse container log max size "10MB": expected a quantity such as 10Mi',
    ],
    [
      'containerLogMaxSize: "0.5"',
      'containerLogMaxSize: failed to parse container log max size "0.5": invalid max log size, expected whole bytes',
    ],
    ['imageMaximumGCAge: 2m', 'imageMaximumGCAge 2m0s must be greater than imageMinimumGCAge 2m0s'],
    [
      'imageGCHighThresholdPercent: 101',
      'imageGCHighThresholdPercent (--image-gc-high-threshold) 101 must be between 0 and 100, inclusive',
    ],
    [
      'imageGCLowThresholdPercent: 85',
      'imageGCLowThresholdPercent (--image-gc-low-threshold) 85 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 85',
    ],
    ['shutdownGracePeriod: 500ms', 'shutdownGracePeriod 500ms must be either zero or otherwise >= 1 sec'],
    ['shutdownGracePeriodCriticalPods: 1m', 'shutdownGracePeriodCriticalPods 1m0s must be <= shutdownGracePeriod 0s'],
    ['maxParallelImagePulls: 0', 'maxParallelImagePulls 0 must be a positive number'],
    ['enforceNodeAllocatable: [pods, pods]', 'duplicated enforcements "pods" in enforceNodeAllocatable'],
    [
      'enforceNodeAllocatable: [none, pods]',
      'enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional enforcements when "none" is specified',
    ],
    [
      'enforceNodeAllocatable: [system-reserved]',
      'systemReservedCgroup (--system-reserved-cgroup) must be specified when "system-reserved" or "system-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [
      'enforceNodeAllocatable: [kube-reserved-compressible]',
      'kubeReservedCgroup (--kube-reserved-cgroup) must be specified when "kube-reserved" or "kube-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [
      'kubeReservedCgroup: /k\nenforceNodeAllocatable: [kube-reserved, kube-reserved-compressible]',
      'both "kube-reserved" and "kube-reserved-compressible" cannot be specified together in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [
      'cgroupsPerQOS: false',
      'cgroupsPerQOS (--cgroups-per-qos) must be set to true when "pods" contained in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    ['cgroupDriver: docker', 'cgroupDriver (--cgroup-driver) "docker" must be "cgroupfs" or "systemd"'],
    ['cgroupRoot: /a/../b', 'cgroupRoot (--cgroup-root) "/a/../b" must be a path without "." and ".."'],
    [
      'reservedSystemCPUs: "0"\nsystemReservedCgroup: /system',
      "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
    ],
    ['evictionHard: {memory: 1Gi}', 'evictionHard: unsupported eviction signal memory'],
    ['evictionHard: {memory.available: much}', 'evictionHard: memory.available: "much" is not a quantity'],
    ['evictionHard: {memory.available: "0"}', 'evictionHard: eviction threshold memory.available must be positive: 0'],
    [
      'evictionHard: {nodefs.available: "101%"}',
      'evictionHard: eviction percentage threshold nodefs.available must be >= 0% and <= 100%: 101%',
    ],
    [
      'registerWithTaints: [{key: "a b", effect: NoSchedule}]',
      'invalid taint: a b:NoSchedule: its key must be a name of at most',
    ],
    [
      'registerWithTaints: [{key: a, value: "b c", effect: NoSchedule}]',
      'invalid taint: a=b c:NoSchedule: its value must be at most',
    ],
    ['registerWithTaints: [{key: a, effect: Never}]', 'invalid taint: a:Never: its effect must be NoSchedule'],
    [
      'registerWithTaints: [{key: a, effect: NoExecute, timeAdded: "2026-01-01T00:00:00Z"}]',
      'taint.TimeAdded is not nil: a:NoExecute',
    ],
    [
      'evictionHard: {nodefs.available: "%"}',
      'evictionHard: eviction percentage threshold nodefs.available must be >= 0% and <= 100%: %',
    ],
    ['nodeStatusUpdateFrequency: 0s', 'nodeStatusUpdateFrequency'],
    ['systemReserved: {gpu: "1"}', 'systemReserved: cannot reserve "gpu" resource'],
    ['kubeReserved: {cpu: much}', 'kubeReserved: cpu: "much" is not a quantity, expected one such as 500m or 1Gi'],
    ['kubeReserved: {memory: -1Gi}', 'kubeReserved: resource quantity for "memory" cannot be negative: -1Gi'],
    [
      'evictionSoft: {memory.available: 1Gi}',
      'grace period must be specified for the soft eviction threshold memory.available',
    ],
    ['featureGates: {NodeSwap: false}', 'cannot set feature gate NodeSwap to false, feature is locked to true'],
    [
      'cpuCFSQuotaPeriod: 50ms',
      'cpuCFSQuotaPeriod (--cpu-cfs-quota-period) 50ms requires feature gate CustomCPUCFSQuotaPeriod',
    ],
    ['syncFrequency: 0s', 'syncFrequency 0s must be greater than 0'],
    ['staticPodURL: ftp://x', 'staticPodURL (--manifest-url) "ftp://x" must be an http or https URL'],
    ['containerRuntimeEndpoint: tcp://x', 'containerRuntimeEndpoint "tcp://x" must be a unix socket'],
  ])('%s is refused in the words of the kubelet', (text, message) => {
    expect(() => load(text)).toThrow(
      `failed to validate kubelet configuration, error: invalid configuration: ${message}`,
    );
  });

  it('that are wrong are reported together', () => {
    expect(() => load('maxPods: -1\nport: 0')).toThrow(
      'error: [invalid configuration: maxPods (--max-pods) -1 must not be a negative number, invalid configuration: port (--port) 0 must be between 1 and 65535, inclusive], path: ',
    );
  });

  it('allow no cgroups for pods, and nothing that is enforced, together', () => {
    for (const enforced of ['[]', '[none]']) {
      const { config } = load(`cgroupsPerQOS: false\nenforceNodeAllocatable: ${enforced}`);
      expect(cgroupOptions(config)).toBeUndefined();
    }
  });

  it('allow a health port that is off and a feature gate that nobody knows', () => {
    expect(load('healthzPort: 0').config.healthzPort).toBe(0);
    expect(load('featureGates: {Foo: true}').warnings).toEqual(['unrecognized feature gate: Foo']);
  });
});

describe('precedence', () => {
  const dropIn = (name: string, text: string) => {
    mkdirSync(join(folder, 'conf.d', 'sub'), { recursive: true });
    write(join('conf.d', name), text);
  };
  const loadAll = (text: string, flags: JsonObject = {}) =>
    loadConfiguration({ file: write('config.yaml', HEAD + text), directory: join(folder, 'conf.d'), flags });

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
    expect(() => loadAll('')).toThrow(`failed to load kubelet dropin file, path: ${folder}/conf.d/10.conf`);
    expect(() => loadAll('')).toThrow(message);
  });

  it('refuses a folder of drop-ins that does not exist', () => {
    expect(() => loadAll('')).toThrow(
      `failed to merge kubelet configs: failed to walk through kubelet dropin directory "${folder}/conf.d": ENOENT`,
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
