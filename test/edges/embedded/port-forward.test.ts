import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SpdyConnection } from '../../../src/runtime/embedded/streaming/spdy/spdy-connection.js';
import type { SpdyStream } from '../../../src/runtime/embedded/streaming/spdy/spdy-stream.js';
import { killProcess } from '../../support/kill-process.js';
import { aborted } from '../../../src/runtime/embedded/streaming/commands/aborted.js';
import { eventually, isRoot, RuntimeUnderTest } from './runtime-under-test.js';
import { ask, spdyClient, textOf, upgradeHeaders } from './streaming-client.js';

const host = new RuntimeUnderTest();
let sandboxId: string;
const servers: Server[] = [];
beforeAll(async () => {
  await host.start();
  sandboxId = await host.sandbox('forward');
});
afterAll(async () => {
  for (const server of servers) server.close();
  await host.dispose();
});

/** A server of the pod, which has the network of this machine. */
const serve = (handle: (socket: Socket) => void, address = '127.0.0.1'): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, handle);
    servers.push(server);
    server.once('error', reject);
    server.listen(0, address, () => resolve((server.address() as AddressInfo).port));
  });
/** Answers with what it received, when all is there. */
const echo = (socket: Socket): void => void socket.pipe(socket);

const client = async (podSandboxId = sandboxId): Promise<SpdyConnection> => {
  const { url } = await host.runtime.portForward({ podSandboxId, port: [] });
  return (await spdyClient(url, 'portforward.k8s.io')).connection;
};

const open = (connection: SpdyConnection, port: number, requestId?: string) => {
  const more: readonly [string, string][] = requestId === undefined ? [] : [['requestID', requestId]];
  const stream = (streamType: string): SpdyStream =>
    connection.open(new Map([['streamType', streamType], ['port', String(port)], ...more]));
  const error = stream('error');
  error.end();
  return { error, data: stream('data') };
};

describe('PortForward', () => {
  it('carries a connection both ways, with the half-close of each side', async () => {
    const port = await serve((socket) => {
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('end', () => socket.end(`received ${Buffer.concat(chunks).toString()}`));
    });
    const connection = await client();
    const { error, data } = open(connection, port, '0');
    data.write('one ');
    data.end('two');
    expect(await textOf(data)).toBe('received one two');
    expect(await textOf(error)).toBe('');
    connection.destroy();
  });

  it('carries many connections at the same time, unchanged', async () => {
    const port = await serve(echo);
    const connection = await client();
    const sums = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const { error, data } = open(connection, port, String(index));
        const bytes = randomBytes(300_000 + index);
        data.end(bytes);
        const received = createHash('sha256');
        for await (const chunk of data) received.update(chunk as Buffer);
        expect(await textOf(error)).toBe('');
        return [received.digest('hex'), createHash('sha256').update(bytes).digest('hex')];
      }),
    );
    for (const [received, sent] of sums) expect(received).toBe(sent);
    connection.destroy();
  });

  it('finds a server that listens on IPv6 alone', async () => {
    const port = await serve(echo, '::1');
    const connection = await client();
    const { data } = open(connection, port, '0');
    data.end('six');
    expect(await textOf(data)).toBe('six');
    connection.destroy();
  });

  it('pairs the streams of clients that do not number their requests', async () => {
    const port = await serve(echo);
    const connection = await client();
    const both = [open(connection, port), open(connection, port)];
    both.forEach(({ data }, index) => data.end(`number ${index}`));
    expect(await Promise.all(both.map(({ data }) => textOf(data)))).toEqual(['number 0', 'number 1']);
    connection.destroy();
  });

  it('writes why a port is not reached, and goes on with others', async () => {
    const port = await serve(echo);
    const silent = createServer();
    const closed = await new Promise<number>((resolve) =>
      silent.listen(0, '127.0.0.1', () => {
        const { port } = silent.address() as AddressInfo;
        silent.close(() => resolve(port));
      }),
    );
    const connection = await client();
    const refused = open(connection, closed, '0');
    expect(await textOf(refused.error)).toMatch(
      new RegExp(
        `^error forwarding port ${closed} to pod ${sandboxId}, uid : failed to connect to localhost:${closed}: .*ECONNREFUSED.*::1`,
      ),
    );
    expect(await textOf(refused.data)).toBe('');
    const { data } = open(connection, port, '1');
    data.end('still here');
    expect(await textOf(data)).toBe('still here');
    connection.destroy();
  });

  it.each([
    ['no port', [['streamType', 'data']]],
    [
      'a port that is none',
      [
        ['streamType', 'data'],
        ['port', '65536'],
      ],
    ],
    [
      'another type',
      [
        ['streamType', 'stdin'],
        ['port', '80'],
      ],
    ],
  ] as const)('refuses a stream with %s', async (_what, headers) => {
    const connection = await client();
    const stream = connection.open(new Map(headers));
    await new Promise((resolve) => stream.once('close', resolve));
    expect(connection.gone.aborted).toBe(false);
    connection.destroy();
  });

  it('leaves neither connections nor descriptors when a client resets a stream or vanishes', async () => {
    const sockets = new Set<Socket>();
    const port = await serve((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
      socket.resume().on('end', () => socket.destroy());
    });
    const descriptors = (): number => readdirSync(`/proc/${host.pid}/fd`).length;
    const before = descriptors();
    const connection = await client();
    const all = Array.from({ length: 10 }, (_, index) => open(connection, port, String(index)));
    await eventually('all are connected', () => sockets.size === 10);
    all[0]?.data.destroy();
    await eventually('the one is gone', () => sockets.size === 9);
    connection.destroy();
    await eventually('the others are gone', () => sockets.size === 0);
    await eventually('no descriptor is left', () => descriptors() <= before);
  });

  const ways = {
    stopped: (podSandboxId: string) => host.runtime.stopPodSandbox({ podSandboxId }),
    removed: (podSandboxId: string) => host.runtime.removePodSandbox({ podSandboxId }),
    // Only root gives a pod namespaces, and a process that holds them.
    ...(isRoot && {
      'without its namespaces': async (podSandboxId: string) => {
        const { info } = await host.runtime.podSandboxStatus({ podSandboxId, verbose: true });
        killProcess((JSON.parse(info['info'] ?? '') as { pid: number }).pid);
      },
    }),
  };

  it.each(Object.entries(ways))(
    'a port-forward ends with a pod that is %s, and reaches no other program',
    async (way, end) => {
      const other = { reached: 0 };
      const port = await serve((socket) => {
        other.reached += 1;
        socket.on('error', () => undefined).resume();
      });
      const pod = await host.sandbox(`forward-${way.replaceAll(' ', '-')}`);
      const [idle, busy] = [await client(pod), await client(pod)];
      const { url: unused } = await host.runtime.portForward({ podSandboxId: pod, port: [] });
      const { error, data } = open(busy, port, '0');
      await eventually('it is connected', () => other.reached === 1);
      const over = Promise.all([idle, busy].map(({ gone }) => aborted(gone)));
      const received = Promise.all([error, data].map((stream) => textOf(stream)));
      await end(pod);
      expect(await received).toEqual([`error forwarding port ${port} to pod ${pod}, uid : the pod has ended`, '']);
      await over;
      const { statusCode, body } = await ask(unused, upgradeHeaders('portforward.k8s.io'));
      expect([statusCode, body]).toEqual([500, expect.stringContaining(`pod sandbox "${pod}" `)]);
      expect(other.reached).toBe(1);
    },
  );

  it('names what is wrong with a request', async () => {
    await expect(host.runtime.portForward({ podSandboxId: '' })).rejects.toMatchObject({
      code: 3,
      details: 'missing required pod_sandbox_id',
    });
    await expect(host.runtime.portForward({ podSandboxId: 'x' })).rejects.toMatchObject({ code: 5 });
    const { url } = await host.runtime.portForward({ podSandboxId: sandboxId });
    expect(await ask(url, upgradeHeaders('v4.channel.k8s.io'))).toMatchObject({
      statusCode: 403,
      body: 'unable to upgrade: unable to negotiate protocol: client supports [v4.channel.k8s.io], server accepts [portforward.k8s.io]\n',
    });
  });
});
