import { cpus } from 'node:os';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import type { ContainerOf } from '../embedded/manifests.js';
import { type ContainerdNode, NAMED, SERVER } from './containerd-node.js';
import { running, toldOfContainer } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode();

/** What a container writes that is run once. */
const outputOf = async (node: ContainerdNode, name: string, container: ContainerOf): Promise<readonly string[]> => {
  node.apply({ name, restartPolicy: 'Never', containers: [container] });
  return node.output(await node.reached(name, 'CONTAINER_EXITED'));
};
const ref = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
const amount = (name: string, resource: string, more: object = {}) => ({
  ...{ name, valueFrom: { resourceFieldRef: { resource, ...more } } },
});

overContainerd('the process of a container', () => {
  it('is started by command and arguments, with what they refer to', async ({ node }) => {
    const output = await outputOf(node, 'words', {
      command: ['sh', '-c', 'echo "$0"; for word; do echo "$word"; done', '$(GREETING)'],
      args: ['$(WHERE)', '$$(WHO)', '$(NOBODY)', 'a$(WHO)$(WHO)', '$(WHO', '$WHO', '$(FROM_IMAGE)', ''],
      env: [ref('WHO', 'metadata.name'), ref('WHERE', 'spec.nodeName'), { name: 'GREETING', value: 'hello $(WHO)' }],
    });
    const who = `words-${NODE_NAME}`;
    // Variables of the image are not looked at: only the runtime knows them.
    expect(output).toEqual([
      ...[`hello ${who}`, NODE_NAME, '$(WHO)', '$(NOBODY)', `a${who}${who}`, '$(WHO', '$WHO', '$(FROM_IMAGE)', ''],
    ]);
  });

  it('is that of the image where the pod says nothing', async ({ node }) => {
    node.apply({
      name: 'image',
      containers: [
        { image: SERVER, command: undefined },
        { name: 'args', image: SERVER, command: undefined, args: ['-p', '8081', '-h', '/srv'] },
      ],
    });
    node.apply({
      name: 'image-once',
      restartPolicy: 'Never',
      containers: [
        { image: NAMED, command: undefined },
        { name: 'args', image: NAMED, command: undefined, args: ['-c', 'exit 7'] },
        // A command takes the arguments of the image away, too.
        { name: 'command', image: NAMED, command: ['echo'] },
      ],
    });
    const words = async (name: string) =>
      node.exec((await running(node, 'image', name)).id, 'sh', '-c', 'tr "\\0" " " < /proc/1/cmdline');
    expect(await words('main')).toBe('httpd -f -p 8080 -h /www');
    expect(await words('args')).toBe('httpd -f -p 8080 -p 8081 -h /srv');
    const once = (name = 'main') => node.reached('image-once', 'CONTAINER_EXITED', { name });
    expect([(await once()).exitCode, (await once('args')).exitCode]).toEqual([6, 7]);
    expect(node.output(await once('command'))).toEqual(['']);
  });

  it('begins where the pod says, or else the image', async ({ node }) => {
    expect(await outputOf(node, 'at-home', { script: 'pwd' })).toEqual(['/srv']);
    expect(await outputOf(node, 'elsewhere', { script: 'pwd', workingDir: '/tmp' })).toEqual(['/tmp']);
  });

  it('has a terminal or an input if it wants one', async ({ node }) => {
    const script = '[ -t 0 ] && echo tty; [ -t 1 ] && echo out; echo ready; read line && echo "$line"; echo end';
    expect(await outputOf(node, 'no-input', { script })).toEqual(['ready', 'end']);
    node.apply({
      name: 'input',
      containers: [
        { script, stdin: true },
        { name: 'terminal', script, stdin: true, tty: true },
      ],
    });
    const [input, terminal] = [await running(node, 'input'), await running(node, 'input', 'terminal')];
    const out = (status: { readonly logPath: string }) => node.output(status).map((line) => line.replaceAll('\r', ''));
    await eventually(
      'both wait for a line',
      () => out(input.status).includes('ready') && out(terminal.status).includes('ready'),
    );
    expect(out(input.status)).toEqual(['ready']);
    expect(out(terminal.status)).toEqual(['tty', 'out', 'ready']);
    const { config } = await toldOfContainer(node, terminal.id);
    expect(config).toMatchObject({ stdin: true, tty: true });
  });
});

overContainerd('the variables of a container', () => {
  it('describe the pod', async ({ node }) => {
    node.write(
      'fields.yaml',
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'Pod' },
        metadata: { name: 'fields', namespace: 'shop', labels: { app: 'web' }, annotations: { note: 'a "b"' } },
        spec: {
          containers: [
            {
              ...{ name: 'main', image: 'stage.test/busybox:1', command: ['sleep', '2147483'] },
              env: [
                ref('NAME', 'metadata.name'),
                ref('NAMESPACE', 'metadata.namespace'),
                ref('UID', 'metadata.uid'),
                ref('LABEL', "metadata.labels['app']"),
                ref('NONE', "metadata.labels['none']"),
                ref('NOTE', "metadata.annotations['note']"),
                ref('NODE', 'spec.nodeName'),
                ref('HOST', 'status.hostIP'),
                ref('IP', 'status.podIP'),
                ref('IPS', 'status.podIPs'),
              ],
            },
          ],
        },
      }),
    );
    const { id } = await running(node, 'fields');
    const env = new Map(
      (await node.exec(id, 'sh', '-c', 'tr "\\0" "\\n" < /proc/1/environ')).split('\n').map((line) => {
        const at = line.indexOf('=');
        return [line.slice(0, at), line.slice(at + 1)] as const;
      }),
    );
    const { metadata } = await node.sandboxOf('fields');
    const address = await node.addressOf('fields');
    const hostIP = await eventually(
      'the address of the machine is known',
      async () => (await node.podStatus('fields'))?.hostIP,
    );
    expect(Object.fromEntries(env)).toMatchObject({
      ...{ NAME: `fields-${NODE_NAME}`, NAMESPACE: 'shop', UID: metadata?.uid, LABEL: 'web', NONE: '', NOTE: 'a "b"' },
      ...{ NODE: NODE_NAME, HOST: hostIP, IP: address, IPS: address },
      // Of the image, and of the runtime.
      ...{ FROM_IMAGE: 'yes', HOSTNAME: `fields-${NODE_NAME}` },
    });
  });

  it('refer to each other, and to resources', async ({ node }) => {
    const output = await outputOf(node, 'amounts', {
      script: 'env',
      resources: { requests: { cpu: '250m', memory: '32Mi' }, limits: { cpu: '1500m', memory: '64Mi' } },
      env: [
        { name: 'EARLY', value: '$(LATE) $(FIRST) $$(FIRST)' },
        { name: 'FIRST', value: 'one' },
        { name: 'LATE', value: '$(FIRST) two' },
        { name: 'LATER', value: '$(LATE) three' },
        { name: 'FROM_IMAGE', value: 'no' },
        amount('CPU', 'limits.cpu'),
        amount('MILLI', 'limits.cpu', { divisor: '1m' }),
        amount('REQUEST', 'requests.cpu', { divisor: '1m' }),
        amount('MEMORY', 'limits.memory'),
        amount('MEBI', 'requests.memory', { divisor: '1Mi' }),
        amount('UP', 'requests.memory', { divisor: '1G' }),
        amount('OTHER', 'limits.cpu', { containerName: 'main' }),
        amount('NO_REQUEST', 'requests.ephemeral-storage'),
      ],
    });
    expect(output).toEqual(
      expect.arrayContaining([
        ...['EARLY=$(LATE) $(FIRST) $(FIRST)', 'FIRST=one', 'LATE=one two', 'LATER=one two three', 'FROM_IMAGE=no'],
        ...['CPU=2', 'MILLI=1500', 'REQUEST=250', 'MEMORY=67108864', 'MEBI=32', 'UP=1', 'OTHER=2', 'NO_REQUEST=0'],
      ]),
    );
    // Without a limit it is what the node has.
    const free = await outputOf(node, 'no-limits', { script: 'echo $CPU', env: [amount('CPU', 'limits.cpu')] });
    expect(free).toEqual([String(cpus().length)]);
  });

  it('keep a container back when they are not available, with the reason', async ({ node }) => {
    const env = [amount('CPU', 'limits.cpu', { containerName: 'none' })];
    node.apply({ name: 'unknown', containers: [{ env }] });
    await eventually('the reason is reported', async () => {
      expect(await node.waiting('unknown')).toEqual({
        ...{ reason: 'CreateContainerConfigError', message: 'container none not found' },
      });
      return true;
    });
    expect(await node.containersOf('unknown')).toEqual([]);
  });
});
