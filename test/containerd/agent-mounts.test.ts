import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import type { ContainerOf } from '../embedded/manifests.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import { type ContainerdNode, it as onOwnNode } from './containerd-node.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const flags = (node: ContainerdNode) => [
  '--config',
  node.configuration({ ...QUICK_RESTARTS, clusterDomain: 'cluster.test' }),
];
const it = onOneNode(flags);

const hostAliases = [
  { ip: '127.0.0.9', hostnames: ['db', 'db.test'] },
  { ip: '2001:db8::7', hostnames: ['six'] },
];
const ALIASES = ['', '# Entries added by HostAliases.', '127.0.0.9\tdb\tdb.test', '2001:db8::7\tsix'];

const podDirectory = (node: ContainerdNode, uid: string): string => join(node.rootDir, 'pods', uid);
const uidOf = async (node: ContainerdNode, pod: string, name = 'main'): Promise<string> =>
  (await running(node, pod, name)).status.labels['io.kubernetes.pod.uid'] ?? '';
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

overContainerd('the hosts file of a pod', () => {
  it('names the pod and its aliases, the same in all containers', async ({ node }) => {
    const containers = [{}, { name: 'other' }];
    node.apply({ name: 'hosts', hostname: 'box', subdomain: 'shop', hostAliases, containers });
    const [one, other] = [await running(node, 'hosts'), await running(node, 'hosts', 'other')];
    const address = (await node.exec(one.id, 'hostname', '-i')).trim();
    expect(address).toMatch(/^10\.\d+\.\d+\.\d+$/);
    const content = await node.exec(one.id, 'cat', '/etc/hosts');
    expect(content.split('\n')).toEqual([
      '# Kubernetes-managed hosts file.',
      '127.0.0.1\tlocalhost',
      '::1\tlocalhost ip6-localhost ip6-loopback',
      'fe00::0\tip6-localnet',
      'fe00::0\tip6-mcastprefix',
      'fe00::1\tip6-allnodes',
      'fe00::2\tip6-allrouters',
      `${address}\tbox.shop.default.svc.cluster.test\tbox`,
      ...ALIASES,
    ]);
    const seen = await node.exec(other.id, 'sh', '-c', 'ping -c 1 db.test; ping -c 1 box');
    expect(seen).toContain('64 bytes from 127.0.0.9');
    expect(seen).toContain(`64 bytes from ${address}`);

    // It is one file, which containers may change.
    await node.exec(one.id, 'sh', '-c', 'echo 192.0.2.9 own >> /etc/hosts');
    expect(await node.exec(other.id, 'tail', '-n', '1', '/etc/hosts')).toBe('192.0.2.9 own');
    const file = join(podDirectory(node, await uidOf(node, 'hosts')), 'etc-hosts');
    expect(readFileSync(file, 'utf8')).toContain('192.0.2.9 own\n');
    expect(modeOf(file)).toBe('644');
  });

  it('is that of the machine on its network, and the machine keeps its own', async ({ node }) => {
    const machine = readFileSync('/etc/hosts', 'utf8');
    node.apply({ name: 'machine', hostNetwork: true, hostAliases });
    const { id } = await running(node, 'machine');
    const content = await node.exec(id, 'sh', '-c', 'cat /etc/hosts; echo changed > /etc/hosts');
    const aliases = ALIASES.join('\n');
    expect(content).toBe(`# Kubernetes-managed hosts file (host network).\n${machine}${aliases}`);
    expect(readFileSync('/etc/hosts', 'utf8')).toBe(machine);
  });
});

/** How the container of a pod that is not started again has ended, as the agent shows it. */
const endOf = async (node: ContainerdNode, name: string, container: ContainerOf) => {
  node.apply({ name, restartPolicy: 'Never', containers: [container] });
  return eventually(`${name} has ended`, async () => {
    const pod = (await node.shownPods()).find(({ metadata }) => metadata.name === `${name}-${NODE_NAME}`);
    return pod?.status?.containerStatuses?.[0]?.state?.terminated;
  });
};
const fallback = { terminationMessagePolicy: 'FallbackToLogsOnError' } as const;

overContainerd('the termination message of a container', () => {
  it.for<{ name: string; container: ContainerOf; end: object }>([
    {
      name: 'said',
      container: { script: 'echo "all done" > /dev/termination-log' },
      end: { exitCode: 0, message: 'all done\n' },
    },
    {
      name: 'said-by-nobody',
      container: {
        script: 'echo "as user $(id -u)" > /dev/termination-log; exit 3',
        securityContext: { runAsUser: 65534 },
      },
      end: { exitCode: 3, message: 'as user 65534\n' },
    },
    {
      name: 'said-elsewhere',
      container: { script: 'echo here > /tmp/words; exit 1', terminationMessagePath: '/tmp/words' },
      end: { exitCode: 1, message: 'here\n' },
    },
    {
      name: 'said-much',
      container: { script: 'for i in $(seq 1000); do printf "%05d" $i; done > /dev/termination-log; exit 1' },
      end: {
        exitCode: 1,
        message: Array.from({ length: 1000 }, (_, index) => String(index + 1).padStart(5, '0'))
          .join('')
          .slice(-4096),
      },
    },
    {
      name: 'said-nothing',
      container: { script: 'echo in the log; exit 1' },
      end: { exitCode: 1, message: undefined },
    },
    {
      name: 'logged',
      container: { ...fallback, script: 'echo one; echo two >&2; printf three; exit 4' },
      end: {
        exitCode: 4,
        message: expect.stringMatching(/^(?=[^]*one\n)(?=[^]*two\n)(?=[^]*three)[^]{13}$/) as string,
      },
    },
    {
      name: 'logged-well',
      container: { ...fallback, script: 'echo one' },
      end: { exitCode: 0, message: undefined },
    },
    {
      name: 'said-and-logged',
      container: { ...fallback, script: 'echo log; echo file > /dev/termination-log; exit 4' },
      end: { exitCode: 4, message: 'file\n' },
    },
  ])('are shown: $name', async ({ name, container, end }, { node }) => {
    const { exitCode, message } = await endOf(node, name, container);
    expect({ exitCode, message }).toEqual(end);
  });

  it('are the last of its log, in the order in which they came', async ({ node }) => {
    const lines = Array.from({ length: 300 }, (_, index) => `line ${index + 1}\n`);
    const short = await endOf(node, 'many-lines', {
      ...fallback,
      script: 'for i in $(seq 300); do echo line $i; done; exit 1',
    });
    expect(short.message).toBe(lines.slice(-80).join(''));
    const word = 'x'.repeat(99);
    const long = await endOf(node, 'long-lines', {
      ...fallback,
      script: `for i in $(seq 60); do echo ${word}; done; exit 1`,
    });
    expect(long.message).toBe(`${word}\n`.repeat(60).slice(-2048));
  });

  it('is kept with the end of the instance before, and shown by `why`', async ({ node }) => {
    const script =
      'test -s /dev/termination-log && exit 99; echo "no luck, $(cat /proc/sys/kernel/random/uuid)" > /dev/termination-log; exit 7';
    node.apply({ name: 'again', containers: [{ script }] });
    const messages = new Set<string>();
    const files = join(
      podDirectory(
        node,
        (await node.reached('again', 'CONTAINER_EXITED', { attempt: 1 })).labels['io.kubernetes.pod.uid'] ?? '',
      ),
      'containers/main',
    );
    await eventually('four instances have said something of their own', async () => {
      const pod = (await node.shownPods()).find(({ metadata }) => metadata.name === `again-${NODE_NAME}`);
      const [status] = pod?.status?.containerStatuses ?? [];
      for (const { exitCode, message } of [status?.state?.terminated, status?.lastState?.terminated].flatMap(
        (end) => end ?? [],
      )) {
        expect(exitCode).toBe(7);
        expect(message).toMatch(/^no luck, /);
        messages.add(message ?? '');
      }
      return messages.size >= 4;
    });
    const { stdout } = await node.run('why', 'again', '--root-dir', node.rootDir);
    expect(stdout).toMatch(/^ {4}message: no luck, [-0-9a-f]{36}$/m);
    expect(modeOf(files)).toBe('750');
    for (const file of readdirSync(files)) {
      expect(file).toMatch(/^[0-9a-f]{8}$/);
      expect(modeOf(join(files, file))).toBe('666');
    }
    // Two instances are kept, and one may be under way.
    await eventually('files of instances that are gone are gone', () => readdirSync(files).length <= 3);
    node.delete('again.yaml');
    await eventually('its directory is gone', () => !existsSync(join(files, '../..')));
  });
});

overContainerd('the directory of a pod', () => {
  it('is there while the pod is, and goes after it', async ({ node }) => {
    node.apply({ name: 'kept' });
    const directory = podDirectory(node, await uidOf(node, 'kept'));
    expect(readdirSync(directory).toSorted()).toEqual(['containers', 'etc-hosts', 'plugins', 'volumes']);
    for (const name of ['', 'plugins', 'volumes', 'containers/main']) expect(modeOf(join(directory, name))).toBe('750');
    node.delete('kept.yaml');
    await eventually('it is gone', () => !existsSync(directory));
  });

  // It kills its agent, so it has one of its own.
  onOwnNode(
    'goes although the pod was deleted while no agent ran, but not while something is mounted there',
    async ({ node }) => {
      node.apply({ name: 'lost' });
      await node.start();
      const directory = podDirectory(node, await uidOf(node, 'lost'));
      const mounted = podDirectory(node, 'mounted');
      const point = join(mounted, 'here');
      await node.kill('SIGKILL');
      node.delete('lost.yaml');
      mkdirSync(point, { recursive: true });
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', point]);
      try {
        await node.start();
        await eventually('what nothing is mounted in is gone', () => !existsSync(directory));
        await eventually('the other one is said to stay', () => node.log.includes(`something is mounted at ${point}`));
        expect(existsSync(point)).toBe(true);
      } finally {
        execFileSync('umount', [point]);
      }
      await eventually('it goes as well', () => !existsSync(mounted));
    },
  );
});
