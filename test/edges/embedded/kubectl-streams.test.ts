import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, RuntimeUnderTest } from './runtime-under-test.js';
import { textOf } from './streaming-client.js';

/** A client written in Go, with a client of SPDY and, if it is new enough, one of WebSockets. */
const KUBECTL = process.env.KUBECTL ?? 'kubectl';
/** Makes a terminal around kubectl. */
const SCRIPT = 'script';
const host = new RuntimeUnderTest();
const home = mkdtempSync(join(tmpdir(), 'rx-kubectl-'));
let [sandboxId, containerId] = ['', ''];
/** The containers of the pods that kubectl attaches to. */
const attachable = new Map<string, string>();

const POD = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'main', image: 'host' }] },
  status: { phase: 'Running' },
};
const podWith = (name: string, more: object) => ({
  ...POD,
  metadata: { ...POD.metadata, name },
  spec: { containers: [{ name: 'main', image: 'host', stdin: true, ...more }] },
});

/** The URL of the runtime for a request to the API server. */
const urlFor = async (request: IncomingMessage): Promise<string> => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://api');
  const flag = (name: string): boolean => searchParams.get(name) === 'true';
  if (pathname.endsWith('/portforward'))
    return (await host.runtime.portForward({ podSandboxId: sandboxId, port: [] })).url;
  const wanted = { stdin: flag('stdin'), stdout: flag('stdout'), stderr: flag('stderr'), tty: flag('tty') };
  const attached = attachable.get(pathname.split('/').at(-2) ?? '');
  if (pathname.endsWith('/attach')) return (await host.runtime.attach({ containerId: attached ?? '', ...wanted })).url;
  return (await host.runtime.exec({ containerId, cmd: searchParams.getAll('command'), ...wanted })).url;
};

/** Relays bytes both ways, as the API server and the kubelet do. */
const relay = async (request: IncomingMessage, client: Socket, head: Buffer): Promise<void> => {
  const url = new URL(await urlFor(request));
  const upstream = connect(Number(url.port), url.hostname);
  const lines = [`${request.method} ${url.pathname} HTTP/1.1`, `Host: ${url.host}`];
  for (let at = 0; at < request.rawHeaders.length; at += 2)
    if (!/^host$/i.test(request.rawHeaders[at] ?? ''))
      lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
  upstream.write(`${lines.join('\r\n')}\r\n\r\n`);
  upstream.write(head);
  for (const side of [client, upstream]) side.on('error', () => undefined);
  client.once('close', () => upstream.destroy());
  upstream.once('close', () => client.destroy());
  client.pipe(upstream).pipe(client);
};

/** The answers to what kubectl asks for before it opens a stream. */
const ANSWERS: Readonly<Record<string, object>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get'] }],
  },
  '/api/v1/namespaces/default/pods/web': POD,
  '/api/v1/namespaces/default/pods/shell': podWith('shell', { stdinOnce: true }),
  '/api/v1/namespaces/default/pods/terminal': podWith('terminal', { tty: true }),
};

const api = createServer((request, response) => {
  const answer = ANSWERS[(request.url ?? '').replace(/\?.*/, '')];
  response.writeHead(answer ? 200 : 404, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(answer ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }));
});
api.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => void relay(request, socket, head));

beforeAll(async () => {
  await host.start();
  sandboxId = await host.sandbox('kubectl');
  containerId = await host.run(sandboxId, 'exec sleep 100000');
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const cluster = { server: `http://127.0.0.1:${(api.address() as AddressInfo).port}` };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(join(home, 'config'), JSON.stringify(config));
});
afterAll(async () => {
  api.closeAllConnections();
  api.close();
  rmSync(home, { recursive: true, force: true });
  await host.dispose();
});

const EARLY_MESSAGE = /^E\d{4} .*websocket\.go:\d+\] Unknown stream id \d+, discarding message\n/gm;

describe.each([
  { over: 'SPDY', sockets: 'false' },
  { over: 'WebSockets if it has them', sockets: 'true' },
])('kubectl, over $over', ({ sockets }) => {
  const env = {
    ...process.env,
    HOME: home,
    KUBECONFIG: join(home, 'config'),
    KUBECTL_REMOTE_COMMAND_WEBSOCKETS: sockets,
    KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false',
  };
  /**
   * The end and the output of kubectl, which gets the input. Over WebSockets kubectl 1.32 reads before it knows its streams, and then logs that
   * the empty message of the server, which shows it that the connection is there, has no stream.
   */
  const kubectl = (args: readonly string[], input: Buffer | string = '') =>
    new Promise<{ code: number | null; stdout: Buffer; stderr: string }>((resolve, reject) => {
      const child = spawn(KUBECTL, args, { env, stdio: 'pipe' });
      const [out, err]: [Buffer[], Buffer[]] = [[], []];
      child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
      child.once('error', reject);
      child.once('close', (code) =>
        resolve({
          code,
          stdout: Buffer.concat(out),
          stderr: Buffer.concat(err).toString().replaceAll(EARLY_MESSAGE, ''),
        }),
      );
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
    });

  it('runs a command, with both outputs and its exit code', async () => {
    const { code, stdout, stderr } = await kubectl(['exec', 'web', '--', 'sh', '-c', 'echo out; echo bad >&2; exit 3']);
    expect([code, stdout.toString()]).toEqual([3, 'out\n']);
    expect(stderr).toMatch(/^bad\n/);
    expect(stderr).toContain('command terminated with exit code 3');
  });

  it('carries 20 MiB of input to its end, and back unchanged', async () => {
    const input = randomBytes(20 * 1024 * 1024);
    const { code, stdout } = await kubectl(['exec', '-i', 'web', '--', 'cat'], input);
    expect(code).toBe(0);
    const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    expect(sum(stdout)).toBe(sum(input));
  });

  it('shows why a command cannot be run', async () => {
    const { code, stderr } = await kubectl(['exec', 'web', '--', 'no-such-program']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('exec: "no-such-program": executable file not found in $PATH');
  });

  it('attaches to a shell, and hands its input to its end over', async () => {
    const metadata = { name: `shell-${sockets}`, attempt: 0 };
    attachable.set('shell', await host.run(sandboxId, 'exec sh', { metadata, stdin: true, stdinOnce: true }));
    const { code, stdout } = await kubectl(['attach', '-i', 'shell'], 'echo $((6*7)); sleep 0.1; echo last');
    expect([code, stdout.toString()]).toEqual([0, '42\nlast\n']);
  });

  it('attaches to a terminal, in a terminal', async () => {
    const metadata = { name: `terminal-${sockets}`, attempt: 0 };
    const script = 'read line; echo "got $line"; read line; exit 0';
    attachable.set('terminal', await host.run(sandboxId, script, { metadata, stdin: true, tty: true }));
    const child = spawn(SCRIPT, ['-qec', `${KUBECTL} attach -it terminal`, '/dev/null'], { env, stdio: 'pipe' });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    try {
      child.stdin.write('hello\r');
      await eventually('the terminal is seen', () => /got hello\r+\n/.test(seen));
      child.stdin.write('\r');
      expect(await ended).toBe(0);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('has a terminal, in a terminal', async () => {
    const script = `script -qec "${KUBECTL} exec -it web -- sh -c 'stty size; tty; exit 4'" /dev/null < /dev/null`;
    const { stdout } = await promisify(execFile)(
      '/bin/sh',
      ['-c', `stty rows 1 2>/dev/null; ${script}; echo "code $?"`],
      {
        env,
      },
    );
    expect(stdout).toMatch(/\/dev\/pts\/\d+\r\n/);
    expect(stdout).toMatch(/code 4\n$/);
  });
});

it('kubectl forwards a port', async () => {
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const env = {
    ...process.env,
    HOME: home,
    KUBECONFIG: join(home, 'config'),
    KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false',
  };
  const child = spawn(KUBECTL, ['port-forward', 'pod/web', `:${port}`], { env, stdio: 'pipe' });
  try {
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const local = await eventually('it listens', () => /Forwarding from 127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
    const echoes = await Promise.all(
      [1, 2, 3].map(async (number) => {
        const socket = connect({ port: Number(local), host: '127.0.0.1', allowHalfOpen: true });
        socket.write(`number ${number}`);
        const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
        socket.end();
        return first.toString() + (await textOf(socket));
      }),
    );
    expect(echoes).toEqual(['number 1', 'number 2', 'number 3']);
    expect(said).not.toContain('error');
  } finally {
    child.kill();
    server.close();
  }
});
