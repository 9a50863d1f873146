import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePort, NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { BUSYBOX, type ContainerdNode, it, SERVER } from './containerd-node.js';
import { limitsOf } from './limits-of.js';
import { overContainerd } from './missing.js';

const server = { name: 'server', image: SERVER, command: undefined };

const statusOf = async (node: ContainerdNode, id: string) => {
  const { status } = await node.ask((runtime) => runtime.podSandboxStatus({ podSandboxId: id }));
  if (!status) throw new Error(`no status of sandbox ${id}`);
  return status;
};
const namespaceOf = (pid: number, name: string): string => readlinkSync(`/proc/${pid}/ns/${name}`);
/** A line of /proc/<pid>/status. */
const procStatus = (pid: number, name: string): string | undefined =>
  new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];

overContainerd('the network of a pod', () => {
  it('has an address that answers, shared by its containers', async ({ node }) => {
    const hostPort = await freePort();
    const client = { name: 'client', env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] };
    node.apply({ name: 'web', containers: [{ ...server, ports: [{ containerPort: 8080, hostPort }] }, client] });
    await node.start();
    const [one, other] = await Promise.all(
      ['server', 'client'].map((name) => node.reached('web', 'CONTAINER_RUNNING', { name })),
    );
    const [sandbox] = await node.sandboxes();
    const { network } = await statusOf(node, sandbox?.id ?? '');
    const address = network?.ip ?? '';
    expect(address).toMatch(/^10\.\d+\.\d+\.\d+$/);

    const page = async (host: string) => (await fetch(`http://${host}/`)).text();
    await eventually(
      'it answers at its address',
      async () => (await page(`${address}:8080`)) === 'hello from the image\n',
    );
    const machine = await eventually('the pod has the address of the machine', async () => {
      const [pod] = await node.shownPods();
      expect(pod?.status).toMatchObject({ phase: 'Running', podIP: address, podIPs: [{ ip: address }] });
      return pod?.status?.hostIP;
    });
    expect(await page(`${machine}:${hostPort}`)).toBe('hello from the image\n');
    expect(await node.exec(other?.id ?? '', 'wget', '-qO-', 'http://127.0.0.1:8080/')).toBe('hello from the image');
    expect(await node.exec(other?.id ?? '', 'sh', '-c', 'echo $IP; hostname')).toBe(`${address}\nweb-${NODE_NAME}`);
    const pids = await Promise.all([one, other].map((status) => node.pidOf(status?.id ?? '')));
    const [first = 0, second = 0] = pids;
    for (const shared of ['net', 'ipc', 'uts']) expect(namespaceOf(second, shared)).toBe(namespaceOf(first, shared));
    for (const own of ['pid', 'mnt']) expect(namespaceOf(second, own)).not.toBe(namespaceOf(first, own));
    expect(namespaceOf(first, 'net')).not.toBe(readlinkSync('/proc/self/ns/net'));
  });

  it('is that of the machine, and its processes are shared, if the pod wants that', async ({ node }) => {
    node.apply({ name: 'host', hostNetwork: true });
    const two = [{}, { name: 'other' }];
    node.apply({ name: 'shared', shareProcessNamespace: true, containers: two });
    node.apply({ name: 'everyone', hostPID: true, hostIPC: true });
    await node.start();
    const pid = async (pod: string, name = 'main') =>
      node.pidOf((await node.reached(pod, 'CONTAINER_RUNNING', { name })).id);
    const own = (name: string) => readlinkSync(`/proc/self/ns/${name}`);
    expect(namespaceOf(await pid('host'), 'net')).toBe(own('net'));
    expect(namespaceOf(await pid('shared', 'other'), 'pid')).toBe(namespaceOf(await pid('shared'), 'pid'));
    expect(namespaceOf(await pid('everyone'), 'pid')).toBe(own('pid'));
    expect(namespaceOf(await pid('everyone'), 'ipc')).toBe(own('ipc'));
    expect(namespaceOf(await pid('everyone'), 'net')).not.toBe(own('net'));
    await eventually('the pod has no other address than the machine', async () => {
      const pod = (await node.shownPods()).find(({ metadata }) => metadata.name === `host-${NODE_NAME}`);
      return pod?.status?.podIP !== undefined && pod.status.podIP === pod.status.hostIP;
    });
  });

  it('resolves names as the pod says', async ({ node }) => {
    const dnsConfig = {
      nameservers: ['192.0.2.53', '192.0.2.54'],
      searches: ['one.test', 'two.test'],
      options: [{ name: 'ndots', value: '3' }, { name: 'edns0' }],
    };
    node.apply({ name: 'dns', dnsPolicy: 'None', dnsConfig });
    await node.start();
    const { id } = await node.reached('dns', 'CONTAINER_RUNNING');
    const resolver = await node.exec(id, 'cat', '/etc/resolv.conf');
    expect(resolver.split('\n').toSorted()).toEqual([
      'nameserver 192.0.2.53',
      'nameserver 192.0.2.54',
      'options ndots:3 edns0',
      'search one.test two.test',
    ]);
  });
});

overContainerd('the surroundings of a container', () => {
  it('are what the manifest and the image say', async ({ node }) => {
    node.apply({
      name: 'env',
      hostname: 'box',
      restartPolicy: 'Never',
      containers: [
        {
          command: ['sh', '-c', 'pwd; id -u; id -g; hostname; echo "$0" "$@"; env', '$(GREETING)'],
          args: ['$(WHERE)', '$$(WHO)', '$(NOBODY)'],
          workingDir: '/tmp',
          env: [
            { name: 'WHO', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'WHERE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
            { name: 'GREETING', value: 'hello $(WHO)' },
            { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory' } } },
          ],
          resources: { limits: { memory: '32Mi' } },
          securityContext: { runAsUser: 65534, runAsGroup: 65533 },
        },
      ],
    });
    // Nothing is said, so the image decides.
    node.apply({ name: 'image', containers: [server] });
    await node.start();
    const output = node.output(await node.reached('env', 'CONTAINER_EXITED'));
    const greeting = `hello env-${NODE_NAME}`;
    expect(output.slice(0, 5)).toEqual(['/tmp', '65534', '65533', 'box', `${greeting} ${NODE_NAME} $(WHO) $(NOBODY)`]);
    expect(output).toEqual(expect.arrayContaining([`GREETING=${greeting}`, 'MEMORY=33554432', 'FROM_IMAGE=yes']));

    const { id } = await node.reached('image', 'CONTAINER_RUNNING', { name: 'server' });
    expect(await node.exec(id, 'sh', '-c', 'id -u; tr "\\0" " " < /proc/1/cmdline')).toBe(
      '1000\nhttpd -f -p 8080 -h /www',
    );
  });

  it('let it do what the security context says', async ({ node }) => {
    const context = {
      ...{ runAsNonRoot: true, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, runAsUser: 1000 },
      seccompProfile: { type: 'RuntimeDefault' },
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
    };
    node.apply({
      name: 'strict',
      securityContext: { fsGroup: 4000, supplementalGroups: [5000] },
      containers: [{ securityContext: context }, { name: 'usual' }],
    });
    node.apply({ name: 'no-root', containers: [{ securityContext: { runAsNonRoot: true } }] });
    await node.start();
    const strict = await node.reached('strict', 'CONTAINER_RUNNING');
    const pid = await node.pidOf(strict.id);
    // Bit 10 is CAP_NET_BIND_SERVICE.
    expect(procStatus(pid, 'CapBnd')).toBe('0000000000000400');
    expect(procStatus(pid, 'CapEff')).toBe('0000000000000000');
    expect(procStatus(pid, 'Seccomp')).toBe('2');
    expect(procStatus(pid, 'NoNewPrivs')).toBe('1');
    expect(procStatus(pid, 'Uid')).toBe('1000\t1000\t1000\t1000');
    expect(procStatus(pid, 'Groups')?.trim().split(' ')).toEqual(expect.arrayContaining(['4000', '5000']));
    await expect(node.exec(strict.id, 'touch', '/tmp/file')).rejects.toThrow('Read-only file system');
    await expect(node.exec(strict.id, 'cat', '/proc/kcore')).rejects.toThrow();

    const usual = await node.reached('strict', 'CONTAINER_RUNNING', { name: 'usual' });
    const usualPid = await node.pidOf(usual.id);
    expect(await node.exec(usual.id, 'touch', '/tmp/file')).toBe('');
    expect(procStatus(usualPid, 'Seccomp')).toBe('0');
    expect(procStatus(usualPid, 'NoNewPrivs')).toBe('0');
    await eventually('the image runs as root, so the pod is not started', async () => {
      const pod = (await node.shownPods()).find(({ metadata }) => metadata.name === `no-root-${NODE_NAME}`);
      expect(pod?.status?.containerStatuses?.[0]?.state?.waiting).toMatchObject({
        reason: 'CreateContainerConfigError',
        message: expect.stringContaining('container has runAsNonRoot and image will run as root') as string,
      });
      return true;
    });
    expect(await node.containersOf('no-root')).toEqual([]);
  });

  it('have seccomp by default where the node says so', async ({ node }) => {
    node.apply({ name: 'default' });
    node.apply({ name: 'unconfined', securityContext: { seccompProfile: { type: 'Unconfined' } } });
    await node.start('--config', node.configuration({ seccompDefault: true }));
    const mode = async (pod: string) =>
      procStatus(await node.pidOf((await node.reached(pod, 'CONTAINER_RUNNING')).id), 'Seccomp');
    expect([await mode('default'), await mode('unconfined')]).toEqual(['2', '0']);
  });

  it('have limits that the kernel holds', async ({ node }) => {
    const resources = {
      requests: { cpu: '250m', memory: '32Mi' },
      limits: { cpu: '500m', memory: '64Mi' },
    };
    const hog = 'x=y; while :; do x=$x$x; done';
    node.apply({ name: 'limits', containers: [{ resources }, { name: 'free' }] });
    node.apply({
      ...{ name: 'hog', restartPolicy: 'Never' },
      containers: [{ resources: { limits: { memory: '16Mi' } }, script: hog }],
    });
    await node.start();
    const of = async (name: string) =>
      limitsOf(await node.pidOf((await node.reached('limits', 'CONTAINER_RUNNING', { name })).id));
    expect(await of('main')).toEqual({ memory: 64 * 2 ** 20, cpuQuota: 50_000, cpuPeriod: 100_000, cpuShares: 256 });
    expect(await of('free')).toEqual({ memory: Infinity, cpuQuota: Infinity, cpuPeriod: 100_000, cpuShares: 2 });
    expect(await node.reached('hog', 'CONTAINER_EXITED')).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });
});

overContainerd('what the runtime keeps of a pod', () => {
  it('is named, labelled and annotated as by the kubelet', async ({ node }) => {
    node.write(
      'labels.yaml',
      `
apiVersion: v1
kind: Pod
metadata: { name: labels, namespace: lab, labels: { app: shop, io.kubernetes.pod.name: fake }, annotations: { note: hello } }
spec:
  terminationGracePeriodSeconds: 3
  containers:
    - name: main
      image: ${BUSYBOX}
      command: [sleep, "2147483"]
      ports: [{ containerPort: 80 }]
      lifecycle: { preStop: { sleep: { seconds: 1 } } }
`,
    );
    await node.start();
    const { id, logPath } = await node.reached('labels', 'CONTAINER_RUNNING');
    const { items } = await node.ask((runtime) => runtime.listPodSandbox({}));
    const [sandbox] = items;
    const uid = sandbox?.metadata?.uid ?? '';
    const identity = {
      'io.kubernetes.pod.name': `labels-${NODE_NAME}`,
      'io.kubernetes.pod.namespace': 'lab',
      'io.kubernetes.pod.uid': uid,
    };
    expect(uid).toMatch(/^[0-9a-f]{32}$/);
    expect(sandbox).toMatchObject({
      metadata: { name: `labels-${NODE_NAME}`, namespace: 'lab', uid, attempt: 0 },
      runtimeHandler: '',
    });
    expect(sandbox?.labels).toEqual({ app: 'shop', ...identity });
    expect(sandbox?.annotations).toEqual({
      note: 'hello',
      'kubernetes.io/config.hash': uid,
      'kubernetes.io/config.seen': expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
      'kubernetes.io/config.source': 'file',
    });

    const { containers } = await node.ask((runtime) => runtime.listContainers({}));
    expect(containers).toMatchObject([{ id, podSandboxId: sandbox?.id, metadata: { name: 'main', attempt: 0 } }]);
    expect(containers[0]?.labels).toEqual({ ...identity, 'io.kubernetes.container.name': 'main' });
    expect(containers[0]?.annotations).toEqual({
      'io.kubernetes.container.hash': expect.stringMatching(/^[0-9a-f]{1,8}$/) as string,
      'io.kubernetes.container.ports': '[{"containerPort":80,"protocol":"TCP"}]',
      'io.kubernetes.container.preStopHandler': '{"sleep":{"seconds":1}}',
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.terminationGracePeriod': '3',
    });
    expect(logPath).toBe(join(node.logs, `lab_labels-${NODE_NAME}_${uid}/main/0.log`));
  });

  it('is a log for each instance, where CRI says', async ({ node }) => {
    const long = 'a'.repeat(20_000);
    node.apply({
      name: 'talks',
      containers: [{ script: `echo out; echo err >&2; printf ${long}; echo; printf end; exit 3` }],
    });
    await node.start();
    const first = await node.reached('talks', 'CONTAINER_EXITED');
    expect(first.logPath).toMatch(/\/main\/0\.log$/);
    const lines = node.logLines(first);
    expect(lines.filter(({ stream }) => stream === 'stderr')).toEqual([{ stream: 'stderr', tag: 'F', content: 'err' }]);
    const out = lines.filter(({ stream }) => stream === 'stdout');
    expect(out.map(({ tag, content }) => `${tag} ${content.length}`)).toEqual(['F 3', 'P 16384', 'F 3616', 'P 3']);
    expect(
      out
        .slice(1, 3)
        .map(({ content }) => content)
        .join(''),
    ).toBe(long);
    const second = await node.reached('talks', 'CONTAINER_EXITED', { attempt: 1 });
    expect(second.logPath).toBe(first.logPath.replace('0.log', '1.log'));
    expect(node.logLines(second)).toHaveLength(lines.length);
  });
});
