import { describe, expect, it } from 'vitest';
import { PodSandboxConfig } from '../../../src/generated/runtime/v1/api.js';
import { sandboxConfig } from '../../../src/model/cri/sandbox-config.js';
import { normalizedSysctl } from '../../../src/model/manifest/sysctl-name.js';
import type { ContainerPort, PodSpec } from '../../../src/model/pod/pod.js';
import { aContainer, aNode, aPod } from '../pods.js';

const config = (spec: Partial<PodSpec> = {}, metadata = {}) =>
  sandboxConfig({ pod: aPod(spec, metadata), attempt: 2, node: aNode() });

it('describes a pod to the runtime', () => {
  const metadata = { labels: { app: 'web' }, annotations: { note: 'x' } };
  expect(config({ dnsPolicy: 'Default', securityContext: {} }, metadata)).toMatchObject({
    metadata: { name: 'p', namespace: 'default', uid: 'uid-1', attempt: 2 },
    hostname: 'p',
    logDirectory: '/var/log/pods/default_p_uid-1',
    dnsConfig: { servers: ['192.168.1.1'], searches: ['lan'], options: ['timeout:1'] },
    labels: { app: 'web', 'io.kubernetes.pod.uid': 'uid-1' },
    annotations: { note: 'x' },
    linux: {
      cgroupParent: '',
      securityContext: { namespaceOptions: { network: 'POD' }, seccomp: { profileType: 'RuntimeDefault' } },
      sysctls: {},
      overhead: {},
    },
  });
});

it('survives the wire', () => {
  const sent = config({ securityContext: { runAsUser: 5, sysctls: [{ name: 'net.core.somaxconn', value: '1' }] } });
  const received = PodSandboxConfig.decode(PodSandboxConfig.encode(PodSandboxConfig.fromPartial(sent)).finish());
  expect(received.metadata).toEqual({ name: 'p', namespace: 'default', uid: 'uid-1', attempt: 2 });
  expect(received.linux?.securityContext?.runAsUser?.value).toBe(5n);
  expect(received.linux?.sysctls).toEqual({ 'net.core.somaxconn': '1' });
});

it('names no host on the host network', () => {
  expect(config({ hostNetwork: true })).not.toHaveProperty('hostname');
});

it('passes on the cgroup of the pod', () => {
  const { linux } = sandboxConfig({ pod: aPod(), attempt: 0, node: aNode(), cgroupParent: '/kubepods/poduid-1' });
  expect(linux?.cgroupParent).toBe('/kubepods/poduid-1');
});

it('sums up resources without overhead, and passes that apart', () => {
  const resources = { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '64Mi' } };
  const containers = [aContainer('a', { resources }), aContainer('b', { resources })];
  expect(config({ containers, overhead: { cpu: '250m', memory: '10Mi' } }).linux).toMatchObject({
    resources: { cpuShares: 1024n, cpuQuota: 200_000n, memoryLimitInBytes: 134_217_728n },
    overhead: { cpuShares: 256n, cpuQuota: 25_000n, memoryLimitInBytes: 10_485_760n },
  });
});

describe('ports', () => {
  const mapped = (...ports: ContainerPort[]) => config({ containers: [aContainer('a', { ports })] }).portMappings;

  it('are those of regular containers', () => {
    const ports = [{ containerPort: 80 }];
    expect(config({ initContainers: [aContainer('i', { ports, restartPolicy: 'Always' })] })).not.toHaveProperty(
      'portMappings',
    );
  });

  it('are all that are declared, with or without a port of the host', () => {
    expect(
      mapped(
        { containerPort: 80 },
        { containerPort: 53, hostPort: 53, protocol: 'UDP', hostIP: '127.0.0.1' },
        { containerPort: 90, protocol: 'HTTP' },
      ),
    ).toEqual([
      { protocol: 'TCP', containerPort: 80, hostPort: 0, hostIp: '' },
      { protocol: 'UDP', containerPort: 53, hostPort: 53, hostIp: '127.0.0.1' },
      { protocol: 'TCP', containerPort: 90, hostPort: 0, hostIp: '' },
    ]);
  });

  it('count once if they have the same name, or else the same numbers', () => {
    const ports = mapped(
      { name: 'web', containerPort: 80 },
      { containerPort: 81 },
      { name: 'web', containerPort: 82 },
      { containerPort: 81 },
      { containerPort: 81, protocol: 'UDP' },
    );
    expect(ports?.map(({ containerPort, protocol }) => `${containerPort}/${protocol}`)).toEqual([
      '80/TCP',
      '81/TCP',
      '81/UDP',
    ]);
  });
});

it('has the default sysctls of the node, of which the pod overrides single ones by any form of their names', () => {
  const defaultSysctls = { 'net.core.somaxconn': '1024', 'net/ipv4/ip_forward': '1', 'kernel.sem': '1 2 3 4' };
  const sysctls = (spec: Partial<PodSpec>) =>
    sandboxConfig({ pod: aPod(spec), attempt: 0, node: { ...aNode(), defaultSysctls } }).linux?.sysctls;
  const all = { 'net.core.somaxconn': '1024', 'net.ipv4.ip_forward': '1', 'kernel.sem': '1 2 3 4' };
  expect(sysctls({})).toEqual(all);
  const own = { securityContext: { sysctls: [{ name: 'net/core/somaxconn', value: '7' }] } };
  expect(sysctls(own)).toEqual({ ...all, 'net.core.somaxconn': '7' });
  expect(sysctls({ ...own, hostNetwork: true })).toEqual({ 'net.core.somaxconn': '7', 'kernel.sem': '1 2 3 4' });
});

it.each([
  ['kernel.shm_rmid_forced', 'kernel.shm_rmid_forced'],
  ['kernel/shm_rmid_forced', 'kernel.shm_rmid_forced'],
  ['net/ipv4/conf/eno2.100/rp_filter', 'net.ipv4.conf.eno2/100.rp_filter'],
  ['net.ipv4.conf.eno2/100.rp_filter', 'net.ipv4.conf.eno2/100.rp_filter'],
])('sysctl %s: %s', (name, normalized) => {
  expect(normalizedSysctl(name)).toBe(normalized);
});
