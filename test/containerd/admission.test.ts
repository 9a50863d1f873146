import { readFileSync } from 'node:fs';
import { cpus as processors } from 'node:os';
import { expect } from 'vitest';
import type { PodStatus } from '../../src/model/pod/pod.js';
import { eventually } from '../embedded/eventually.js';
import type { PodOf } from '../embedded/manifests.js';
import type { ContainerdNode } from './containerd-node.js';
import { freeHostPort } from './host-port.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const DEFAULTS = { 'net.core.somaxconn': '777', 'kernel.shmmni': '1234', 'kernel.msgmnb': '20000' };

const it = onOneNode((node) => [
  '--config',
  node.configuration({
    allowedUnsafeSysctls: ['kernel.msg*'],
    featureGates: { DefaultPodSysctls: true },
    defaultPodSysctls: DEFAULTS,
  }),
]);

const sysctls = (values: Readonly<Record<string, string>>) => ({
  securityContext: { sysctls: Object.entries(values).map(([name, value]) => ({ name, value })) },
});

/** The status of a pod that was not taken in; nothing of it was given to the runtime, and an event says the same. */
const rejected = async (node: ContainerdNode, pod: string): Promise<PodStatus> => {
  const status = await eventually(`${pod} is rejected`, async () => {
    const shown = await node.podStatus(pod);
    return shown?.phase === 'Failed' ? shown : undefined;
  });
  const message = status.message?.replace('Pod was rejected: ', '');
  await eventually('an event says so', () => {
    const events = node
      .journal()
      .flatMap((entry) => (entry.pod?.name.startsWith(`${pod}-`) && entry.kind === 'event' ? [entry] : []));
    expect(events).toMatchObject([{ type: 'Warning', reason: status.reason, message }]);
    return true;
  });
  expect(await node.tracesOf(pod)).toEqual([]);
  return status;
};

overContainerd('a kernel parameter', () => {
  it('that is safe or allowed has its value in the pod, and only there', async ({ node }) => {
    const wanted = { 'net.ipv4.ip_unprivileged_port_start': '1234', 'kernel.msgmax': '16384' };
    node.apply({ name: 'tuned', ...sysctls(wanted), containers: [{ securityContext: { runAsUser: 1000 } }] });
    node.apply({ name: 'usual' });
    const { id } = await node.reached('tuned', 'CONTAINER_RUNNING');
    const usual = await node.reached('usual', 'CONTAINER_RUNNING');
    for (const [name, value] of Object.entries(wanted)) {
      const file = `/proc/sys/${name.replaceAll('.', '/')}`;
      expect(await node.exec(id, 'cat', file)).toBe(value);
      expect(await node.exec(usual.id, 'cat', file)).not.toBe(value);
    }
  });

  it('of the defaults of the node has its value in each pod with its namespace, unless the pod has its own', async ({
    node,
  }) => {
    node.apply({ name: 'plain' });
    node.apply({ name: 'own', ...sysctls({ 'kernel.msgmnb': '30000' }) });
    node.apply({ name: 'shared', hostIPC: true });
    const valuesIn = async (pod: string): Promise<Readonly<Record<string, string>>> => {
      const { id } = await node.reached(pod, 'CONTAINER_RUNNING');
      const values: Record<string, string> = {};
      for (const name of Object.keys(DEFAULTS)) {
        values[name] = await node.exec(id, 'cat', `/proc/sys/${name.replaceAll('.', '/')}`);
      }
      return values;
    };
    expect(await valuesIn('plain')).toEqual(DEFAULTS);
    expect(await valuesIn('own')).toEqual({ ...DEFAULTS, 'kernel.msgmnb': '30000' });
    const ofNode = (name: string) => readFileSync(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8').trim();
    expect(await valuesIn('shared')).toEqual({
      'net.core.somaxconn': '777',
      'kernel.shmmni': ofNode('kernel.shmmni'),
      'kernel.msgmnb': ofNode('kernel.msgmnb'),
    });
  });

  it('that is neither keeps the pod out, until the manifest says otherwise', async ({ node }) => {
    const pod: PodOf = { name: 'unsafe', ...sysctls({ 'net.ipv4.tcp_mtu_probing': '1' }) };
    node.apply(pod);
    expect(await rejected(node, 'unsafe')).toEqual({
      qosClass: 'BestEffort',
      phase: 'Failed',
      reason: 'SysctlForbidden',
      message: 'Pod was rejected: forbidden sysctl: "net.ipv4.tcp_mtu_probing" not allowlisted',
      startTime: expect.any(String) as string,
    });
    node.apply({ ...pod, ...sysctls({ 'net.ipv4.tcp_syncookies': '0' }) });
    const { id } = await node.reached('unsafe', 'CONTAINER_RUNNING');
    expect(await node.exec(id, 'cat', '/proc/sys/net/ipv4/tcp_syncookies')).toBe('0');
  });
});

overContainerd('a pod', () => {
  it('that asks for more than the machine has is not taken in', async ({ node }) => {
    const cpus = processors().length;
    node.apply({ name: 'greedy', containers: [{ resources: { requests: { cpu: String(cpus + 1) } } }] });
    expect(await rejected(node, 'greedy')).toMatchObject({
      ...{ qosClass: 'Burstable', reason: 'UnexpectedAdmissionError' },
      message: expect.stringMatching(
        /^Pod was rejected: .* no set of running pods found to reclaim resources: \[\(res: cpu, q: \d+\), \]$/,
      ) as string,
    });
    const details = node
      .journal()
      .flatMap((entry) =>
        entry.kind === 'admission-rejected' && entry.pod?.name.startsWith('greedy') ? entry.detail : [],
      );
    expect(details).toEqual([
      expect.stringMatching(
        new RegExp(`^Node didn't have enough resource: cpu, requested: ${cpus + 1}000, used: \\d+, capacity: \\d+$`),
      ),
    ]);
  });

  it('that another node is meant for is not taken in', async ({ node }) => {
    node.apply({ name: 'elsewhere', nodeSelector: { 'kubernetes.io/arch': 'z80' } });
    node.apply({ name: 'here', nodeSelector: { 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': 'node1' } });
    node.apply({ name: 'other-os', os: { name: 'windows' } });
    expect(await rejected(node, 'elsewhere')).toMatchObject({ reason: 'NodeAffinity' });
    expect(await rejected(node, 'other-os')).toMatchObject({
      message: "Pod was rejected: Failed to admit pod as the OS field doesn't match node OS",
    });
    await node.reached('here', 'CONTAINER_RUNNING');
  });

  it('does not get a port of the machine that another one has', async ({ node }) => {
    const hostPort = await freeHostPort();
    const ports = [{ containerPort: 80, hostPort }];
    node.apply({ name: 'first', containers: [{ ports }] });
    await node.reached('first', 'CONTAINER_RUNNING');
    node.apply({ name: 'second', containers: [{ ports }] });
    expect(await rejected(node, 'second')).toMatchObject({
      reason: 'NodePorts',
      message:
        "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    });
  });

  it('that wants its groups kept apart is taken in where the runtime can do that', async ({ node }) => {
    const { features } = await node.ask((runtime) => runtime.status({}));
    node.apply({ name: 'groups', securityContext: { supplementalGroupsPolicy: 'Strict', supplementalGroups: [4000] } });
    if (features?.supplementalGroupsPolicy) await node.reached('groups', 'CONTAINER_RUNNING');
    else expect(await rejected(node, 'groups')).toMatchObject({ reason: 'SupplementalGroupsPolicyNotSupported' });
  });

  it('of a runtime class runs with the default handler, and is reported so', async ({ node }) => {
    node.apply({ name: 'classy', runtimeClassName: 'gvisor' });
    await node.reached('classy', 'CONTAINER_RUNNING');
    expect(await node.sandboxOf('classy')).toMatchObject({ runtimeHandler: '' });
    const message = 'runtimeClassName "gvisor" has no effect here, the default handler of the runtime is used';
    await eventually('an event says so', () =>
      node
        .journal()
        .some((entry) => entry.kind === 'event' && entry.reason === 'RuntimeClassIgnored' && entry.message === message),
    );
  });
});

overContainerd('a container that must not be root', () => {
  it.for([
    {
      pod: 'by-user',
      container: { securityContext: { runAsNonRoot: true, runAsUser: 0 } },
      why: "container's runAsUser breaks non-root policy",
    },
    {
      pod: 'by-image',
      container: { securityContext: { runAsNonRoot: true } },
      why: 'container has runAsNonRoot and image will run as root',
    },
    {
      pod: 'by-name',
      container: { image: 'stage.test/named:1', securityContext: { runAsNonRoot: true } },
      why: 'container has runAsNonRoot and image has non-numeric user (web), cannot verify user is non-root',
    },
  ])('is not created if it would be, or might: $pod', async ({ pod, container, why }, { node }) => {
    node.apply({ name: pod, containers: [container] });
    await eventually(`${pod} is refused`, async () => {
      const { reason, message } = await node.waiting(pod);
      expect(reason).toBe('CreateContainerConfigError');
      expect(message?.startsWith(`${why} (pod: "${pod}-node1_default(`)).toBe(true);
      return true;
    });
    expect(await node.containersOf(pod)).toEqual([]);
  });
});
