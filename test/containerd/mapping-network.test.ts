import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { SERVER } from './containerd-node.js';
import { freeHostPort } from './host-port.js';
import { namespaceOf, running, toldOfSandbox } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode();
const server = { name: 'server', image: SERVER, command: undefined };
const page = async (host: string) => (await fetch(`http://${host}/`)).text();
const PAGE = 'hello from the image\n';

overContainerd('the network of a pod', () => {
  it('has an address that answers, shared by its containers', async ({ node }) => {
    const client = { name: 'client', env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] };
    node.apply({ name: 'web', containers: [server, client] });
    const [one, other] = await Promise.all(['server', 'client'].map((name) => running(node, 'web', name)));
    if (!one || !other) throw new Error('one of the two does not run');
    const address = await node.addressOf('web');
    expect(address).toMatch(/^10\.\d+\.\d+\.\d+$/);
    await eventually('it answers at its address', async () => (await page(`${address}:8080`)) === PAGE);
    await eventually('the pod has the address', async () => {
      expect(await node.podStatus('web')).toMatchObject({
        ...{ phase: 'Running', podIP: address, podIPs: [{ ip: address }] },
      });
      return true;
    });
    expect(await node.exec(other.id, 'wget', '-qO-', 'http://127.0.0.1:8080/')).toBe(PAGE.trim());
    expect(await node.exec(other.id, 'sh', '-c', 'echo $IP')).toBe(address);
    const [first, second] = [one.pid, other.pid];
    for (const shared of ['net', 'ipc', 'uts']) expect(namespaceOf(second, shared)).toBe(namespaceOf(first, shared));
    for (const own of ['pid', 'mnt']) expect(namespaceOf(second, own)).not.toBe(namespaceOf(first, own));
    for (const name of ['net', 'ipc', 'uts', 'pid', 'mnt']) {
      expect(namespaceOf(first, name)).not.toBe(namespaceOf('self', name));
    }
  });

  it('answers at ports of the machine', async ({ node }) => {
    const [hostPort, ofInit] = [await freeHostPort(), await freeHostPort()];
    const ports = [
      { containerPort: 8080, hostPort },
      // One without a port of the machine is passed, too.
      { name: 'dns', containerPort: 53, protocol: 'UDP' },
      { containerPort: 8081, hostPort: 0, hostIP: '127.0.0.1' },
    ];
    node.apply({
      name: 'ports',
      // Ports of init containers are not mapped, not even those of sidecars.
      initContainers: [{ name: 'sidecar', restartPolicy: 'Always', ports: [{ containerPort: 1, hostPort: ofInit }] }],
      containers: [{ ...server, ports }, { name: 'other' }],
    });
    await running(node, 'ports', 'server');
    const machine = await eventually('the address of the machine is known', async () => {
      return (await node.podStatus('ports'))?.hostIP;
    });
    await eventually('it answers there', async () => (await page(`${machine}:${hostPort}`)) === PAGE);
    expect((await toldOfSandbox(node, 'ports')).config.port_mappings).toEqual([
      { container_port: 8080, host_port: hostPort },
      { protocol: 1, container_port: 53 },
      { container_port: 8081, host_ip: '127.0.0.1' },
    ]);
    node.delete('ports.yaml');
    await eventually('the port has no listener any more', () =>
      page(`${machine}:${hostPort}`).then(
        () => false,
        (error: unknown) => error instanceof TypeError && error.message === 'fetch failed',
      ),
    );
  });
});

overContainerd('the namespaces of a pod', () => {
  it('are those of the machine if the pod wants that', async ({ node }) => {
    node.apply({ name: 'host', hostNetwork: true });
    node.apply({ name: 'everyone', hostPID: true, hostIPC: true });
    const [host, everyone] = await Promise.all([running(node, 'host'), running(node, 'everyone')]);
    expect(namespaceOf(host.pid, 'net')).toBe(namespaceOf('self', 'net'));
    for (const own of ['pid', 'ipc']) expect(namespaceOf(host.pid, own)).not.toBe(namespaceOf('self', own));
    for (const shared of ['pid', 'ipc']) expect(namespaceOf(everyone.pid, shared)).toBe(namespaceOf('self', shared));
    expect(namespaceOf(everyone.pid, 'net')).not.toBe(namespaceOf('self', 'net'));
    await eventually('the pod has no other address than the machine', async () => {
      const status = await node.podStatus('host');
      return status?.podIP !== undefined && status.podIP === status.hostIP;
    });
  });

  it('are of processes, too, if its containers share them', async ({ node }) => {
    node.apply({ name: 'shared', shareProcessNamespace: true, containers: [{}, { name: 'other' }] });
    const [main, other] = await Promise.all([running(node, 'shared'), running(node, 'shared', 'other')]);
    expect(namespaceOf(other.pid, 'pid')).toBe(namespaceOf(main.pid, 'pid'));
    expect(namespaceOf(other.pid, 'pid')).toBe(
      namespaceOf(await node.sandboxPid((await node.sandboxOf('shared')).id), 'pid'),
    );
    expect(namespaceOf(other.pid, 'pid')).not.toBe(namespaceOf('self', 'pid'));
    // Each sees the other.
    expect(await node.exec(other.id, 'sh', '-c', 'ls /proc | grep -c "^[0-9]"')).not.toBe('1');
  });

  it('of users cannot be its own where the runtime has none', async ({ node }) => {
    node.apply({ name: 'users', hostUsers: false });
    await eventually('it says so', () =>
      node.log.includes("can't set `spec.hostUsers: false`, runtime does not support user namespaces"),
    );
    await expect(node.sandboxOf('users')).rejects.toThrow('users has no sandbox');
  });
});
