import { createServer, type AddressInfo, type Server } from 'node:net';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventually, processesWith, RuntimeUnderTest } from './runtime-under-test.js';

const host = new RuntimeUnderTest();
let [sandboxId, containerId] = ['', ''];
let server: Server;
let port: number;
beforeAll(async () => {
  await host.start();
  sandboxId = await host.sandbox('websocket');
  containerId = await host.run(sandboxId, 'exec sleep 100000');
  server = createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(async () => {
  server.close();
  await host.dispose();
});

interface Client {
  readonly socket: WebSocket;
  /** What arrived on the channels, by their numbers. */
  readonly channels: Map<number, Buffer>;
  readonly closed: Promise<number>;
  readonly first: Promise<Buffer>;
}

const client = async (url: string, protocol: string | undefined): Promise<Client> => {
  const socket = new WebSocket(url.replace('http:', 'ws:'), protocol === undefined ? [] : ['nonsense', protocol]);
  const channels = new Map<number, Buffer>();
  const isText = protocol?.includes('base64') === true;
  const first = new Promise<Buffer>((resolve) => socket.once('message', (data: Buffer) => resolve(data)));
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    expect(isBinary).toBe(!isText);
    const number = (data[0] ?? 0) - (isText ? 0x30 : 0);
    const content = isText ? Buffer.from(data.subarray(1).toString(), 'base64') : data.subarray(1);
    channels.set(number, Buffer.concat([channels.get(number) ?? Buffer.alloc(0), content]));
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  expect(socket.protocol).toBe(protocol ?? '');
  return { socket, channels, closed, first };
};
const exec = async (script: string, protocol: string | undefined, wanted: object = {}): Promise<Client> => {
  const cmd = ['/bin/sh', '-c', script];
  const { url } = await host.runtime.exec({ containerId, cmd, stdout: true, stderr: true, ...wanted });
  return client(url, protocol);
};
const textOf = ({ channels }: Client, number: number): string => channels.get(number)?.toString() ?? '';

describe('Exec over a WebSocket', () => {
  it.each(['v4.channel.k8s.io', 'v4.base64.channel.k8s.io', 'v5.channel.k8s.io'])(
    'passes both outputs on, and the end, with %s',
    async (protocol) => {
      const found = await exec('echo out; echo problem >&2; exit 3', protocol);
      expect(await found.closed).toBe(1000);
      expect(String(await found.first)).toBe(protocol.includes('base64') ? '1' : '\u0001');
      expect([textOf(found, 1), textOf(found, 2)]).toEqual(['out\n', 'problem\n']);
      expect(JSON.parse(textOf(found, 3))).toMatchObject({
        details: { causes: [{ reason: 'ExitCode', message: '3' }] },
      });
    },
  );

  it.each(['channel.k8s.io', undefined])('writes plain text on failure with %s', async (protocol) => {
    const found = await exec('echo out; exit 3', protocol);
    await found.closed;
    expect([textOf(found, 1), textOf(found, 3)]).toEqual([
      'out\n',
      'error executing command [/bin/sh -c echo out; exit 3], exit code 3',
    ]);
  });

  it('takes input, and its end, with v5', async () => {
    const found = await exec('cat; echo end', 'v5.channel.k8s.io', { stdin: true });
    found.socket.send(Buffer.from('\u0000one '));
    found.socket.send(Buffer.from('\u0000two '));
    found.socket.send(Buffer.from([255, 0]));
    await found.closed;
    expect(textOf(found, 1)).toBe('one two end\n');
    expect(JSON.parse(textOf(found, 3))).toMatchObject({ status: 'Success' });
  });

  it('has a terminal with the size of the client', async () => {
    const wanted = { stdin: true, stderr: false, tty: true };
    const found = await exec(
      'trap "stty size" WINCH; echo ready; line=; while [ "$line" != end ]; do read line; done',
      'v4.channel.k8s.io',
      wanted,
    );
    await eventually('it runs', () => textOf(found, 1).includes('ready'));
    found.socket.send(Buffer.from('\u0004{"Width":99,"Height":33}'));
    await eventually('it has the size', () => textOf(found, 1).includes('33 99'));
    found.socket.send(Buffer.from('\u0000end\r'));
    await found.closed;
    expect(JSON.parse(textOf(found, 3))).toMatchObject({ status: 'Success' });
  });

  it('carries 32 MiB back through a slow reader', async () => {
    const found = await exec('head -c 33554432 /dev/zero', 'v4.channel.k8s.io');
    found.socket.pause();
    await eventually('the sender waits', async () => processesWith('33554432').length > 0);
    found.socket.resume();
    await found.closed;
    expect(found.channels.get(1)?.length).toBe(33_554_432);
  });

  it('kills the command when the client vanishes', async () => {
    const token = randomUUID();
    const found = await exec(`sleep 1000; : ${token}`, 'v4.channel.k8s.io');
    await eventually('it runs', () => processesWith(token).length > 0);
    found.socket.terminate();
    await eventually('no process is left', () => processesWith(token).length === 0);
  });

  it('refuses protocols that it does not know', async () => {
    const { url } = await host.runtime.exec({ containerId, cmd: ['true'], stdout: true });
    await expect(client(url, 'v9.channel.k8s.io')).rejects.toThrow('Unexpected server response: 403');
  });
});

describe('PortForward over a WebSocket', () => {
  it('carries each port on two channels, which begin with its number', async () => {
    const { url } = await host.runtime.portForward({ podSandboxId: sandboxId, port: [port, 1] });
    const found = await client(url, 'v4.channel.k8s.io');
    await eventually('the second port is refused', () => textOf(found, 3).includes('error forwarding port 1 to pod'));
    found.socket.send(Buffer.from('\u0000ping'));
    await eventually('the first echoes', () => textOf(found, 0).includes('ping'));
    expect(found.channels.get(0)?.readUInt16LE(0)).toBe(port);
    expect(found.channels.get(1)?.readUInt16LE(0)).toBe(port);
    expect(found.channels.get(2)?.readUInt16LE(0)).toBe(1);
    found.socket.terminate();
  });

  it('a port-forward over a WebSocket ends with its pod', async () => {
    const pod = await host.sandbox('forward-over');
    const forward = async () => (await host.runtime.portForward({ podSandboxId: pod, port: [port] })).url;
    const [found, unused] = [await client(await forward(), 'v4.channel.k8s.io'), await forward()];
    found.socket.send(Buffer.from('\u0000ping'));
    await eventually('it echoes', () => textOf(found, 0).includes('ping'));
    await host.runtime.stopPodSandbox({ podSandboxId: pod });
    await found.closed;
    expect(textOf(found, 1)).toContain(`error forwarding port ${port} to pod ${pod}, uid : the pod has ended`);
    await expect(client(unused, 'v4.channel.k8s.io')).rejects.toThrow('Unexpected server response: 500');
  });
});
