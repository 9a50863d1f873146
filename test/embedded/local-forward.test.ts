import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { describe, expect } from 'vitest';
import { BUNDLE, type Daemon, freePort, it } from './daemon.js';
import { eventually } from './eventually.js';

const CONNECTIONS = 50;
const BYTES = 200_000;

/** A server that echoes, to the half-close of its client. A pod of the embedded runtime has the network of this machine. */
const echoing = async (daemon: Daemon): Promise<number> => {
  const port = await freePort();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  // A hook without the context of its test would belong to whichever of the tests at the same time began last.
  daemon.beforeDispose(async () => void server.close());
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return port;
};

const forward = (daemon: Daemon, ...args: readonly string[]) => {
  const child = spawn(process.execPath, [BUNDLE, 'port-forward', '--root-dir', daemon.rootDir, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  daemon.beforeDispose(async () => child.kill('SIGKILL'));
  const forwarded = { child, output: '', problems: '', exit: once(child, 'exit') };
  child.stdout.on('data', (part: Buffer) => (forwarded.output += part.toString()));
  child.stderr.on('data', (part: Buffer) => (forwarded.problems += part.toString()));
  return forwarded;
};

/** Sends the bytes, half-closes, and returns the reply to its end. */
const exchange = async (port: number, bytes: Buffer): Promise<Buffer> => {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.end(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const started = async (daemon: Daemon): Promise<void> => {
  daemon.apply({ name: 'web' });
  await daemon.start();
  await eventually('the pod runs', async () =>
    (await daemon.shownPods()).some(
      ({ metadata, status }) => metadata.name.startsWith('web') && status?.phase === 'Running',
    ),
  );
};

describe.concurrent('port-forward without a cluster', () => {
  it('carries 50 connections at once, unchanged, and ends with Ctrl-C', async ({ daemon }) => {
    const port = await echoing(daemon);
    await started(daemon);
    const local = await freePort();
    const forwarded = forward(daemon, 'web', `${local}:${port}`);
    await eventually('it listens', () => forwarded.output.includes(`Forwarding from 127.0.0.1:${local} -> ${port}\n`));
    const sums = await Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, index) => {
        const bytes = randomBytes(BYTES + index);
        return { sent: sum(bytes), received: sum(await exchange(local, bytes)) };
      }),
    );
    // A connection that fails, and one that is reset, end here like one that is over.
    expect(forwarded.problems).toBe('');
    for (const { sent, received } of sums) expect(received).toBe(sent);
    expect(forwarded.output.match(new RegExp(`Handling connection for ${local}\n`, 'g'))).toHaveLength(CONNECTIONS);
    const open = connect({ host: '127.0.0.1', port: local });
    const closed = once(open.on('error', () => undefined).resume(), 'close');
    await once(open, 'connect');
    forwarded.child.kill('SIGINT');
    expect(await forwarded.exit).toEqual([0, null]);
    await closed;
    expect(forwarded.problems).toBe('');
  });

  it('goes on after a port without a server, and ends when its agent has ended', async ({ daemon }) => {
    const [port, silent] = [await echoing(daemon), await freePort()];
    await started(daemon);
    const forwarded = forward(daemon, 'web-node1', '-n', 'default', `:${silent}`, `:${port}`, '--address', '127.0.0.1');
    const localOf = (remote: number) =>
      eventually('it listens', () => {
        const [, local] =
          new RegExp(`^Forwarding from 127.0.0.1:(\\d+) -> ${remote}$`, 'm').exec(forwarded.output) ?? [];
        return local === undefined ? undefined : Number(local);
      });
    expect(await exchange(await localOf(silent), Buffer.from('lost')).catch(() => Buffer.from(''))).toHaveLength(0);
    await eventually('the problem is reported', () =>
      forwarded.problems.includes(`failed to connect to localhost:${silent}: connect ECONNREFUSED`),
    );
    expect(forwarded.problems).toMatch(
      /^an error occurred forwarding \d+ -> \d+: error forwarding port \d+ to pod .*\n$/,
    );
    expect((await exchange(await localOf(port), Buffer.from('hello'))).toString()).toBe('hello');
    await daemon.kill('SIGKILL');
    expect(await forwarded.exit).toEqual([1, null]);
    expect(forwarded.problems).toMatch(/\nError: lost connection to pod\n$/);
  });

  it('refuses a port that is in use, and a pod that has ended', async ({ daemon }) => {
    const port = await echoing(daemon);
    daemon.apply({ name: 'done', containers: [{ script: 'exit 0' }], restartPolicy: 'Never' });
    await started(daemon);
    const used = forward(daemon, 'web', String(port), '--address', '127.0.0.1');
    expect(await used.exit).toEqual([1, null]);
    expect(used.problems).toBe(
      `Unable to listen on port ${port}: Listeners failed to create with the following errors: ` +
        `[listen EADDRINUSE: address already in use 127.0.0.1:${port}]\n` +
        `Error: unable to listen on any of the requested ports: [{${port} ${port}}]\n`,
    );
    await eventually('the other pod has ended', async () =>
      (await daemon.shownPods()).some(({ status }) => status?.phase === 'Succeeded'),
    );
    const ended = forward(daemon, 'done', '80');
    expect(await ended.exit).toEqual([1, null]);
    expect(ended.problems).toBe('Error: unable to forward port because pod is not running. Current status=Succeeded\n');
  });

  it('a port-forward ends with its pod, and does not reach the next program on the port', async ({ daemon }) => {
    const port = await echoing(daemon);
    await started(daemon);
    const local = await freePort();
    const forwarded = forward(daemon, 'web', `${local}:${port}`, '--address', '127.0.0.1');
    await eventually('it listens', () => forwarded.output.includes(`Forwarding from 127.0.0.1:${local} -> ${port}\n`));
    expect((await exchange(local, Buffer.from('hello'))).toString()).toBe('hello');
    daemon.delete('web.yaml');
    expect(await forwarded.exit).toEqual([1, null]);
    expect(forwarded.problems).toBe('Error: lost connection to pod\n');
    expect((await exchange(port, Buffer.from('another program'))).toString()).toBe('another program');
    await expect(exchange(local, Buffer.from('lost'))).rejects.toThrow('ECONNREFUSED');
  });
});
