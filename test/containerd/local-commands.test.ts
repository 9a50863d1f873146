import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { BUNDLE } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { onTerminal } from '../embedded/on-terminal.js';
import { type ContainerdNode, WAIT } from './containerd-node.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode();
const BYTES = 20 * 2 ** 20;
const SLOW_MACHINE_MS = 180_000;

const start = (node: ContainerdNode, command: string, ...args: readonly string[]) => {
  const child = spawn(process.execPath, [BUNDLE, command, '--root-dir', node.rootDir, ...args]);
  node.beforeDispose(async () => child.kill('SIGKILL'));
  return child;
};

const runWith = async (node: ContainerdNode, input: string | Buffer, command: string, ...args: readonly string[]) => {
  const child = start(node, command, ...args);
  const exit = once(child, 'exit') as Promise<[code: number | null]>;
  child.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, stdout, stderr };
};

const runs = (node: ContainerdNode, name: string) =>
  eventually('the pod runs', async () => (await node.podStatus(name))?.phase === 'Running');

const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

overContainerd('the commands without a cluster', () => {
  it('run a command with its input to the end, and its exit code', { timeout: SLOW_MACHINE_MS }, async ({ node }) => {
    node.apply({ name: 'shell' });
    await runs(node, 'shell');
    const input = randomBytes(3_000_000).toString('base64');
    const counted = await runWith(node, input, 'exec', '-i', 'shell', '--', 'sha256sum');
    expect(counted).toEqual({ code: 0, stdout: `${sum(Buffer.from(input))}  -\n`, stderr: '' });
    expect(await runWith(node, '', 'exec', 'shell/main', '--', 'sh', '-c', 'echo e >&2; exit 3')).toEqual({
      ...{ code: 3, stdout: '' },
      stderr: 'e\ncommand terminated with exit code 3\n',
    });
    expect(await runWith(node, '', 'exec', 'shell', '--', 'sh', '-c', 'kill -9 $$')).toMatchObject({ code: 137 });
    const missing = await runWith(node, '', 'exec', 'shell', '--', 'no-such-program');
    expect(missing.code).not.toBe(0);
    expect(missing.stderr).toContain('no-such-program');
    // A large output is complete although the runtime resets its streams at the end.
    const output = await runWith(node, '', 'exec', 'shell', '--', 'head', '-c', '8000000', '/dev/zero');
    expect([output.code, output.stdout.length]).toEqual([0, 8_000_000]);
  });

  it('copy files in both directions, unchanged', { timeout: SLOW_MACHINE_MS }, async ({ node }) => {
    node.apply({ name: 'files' });
    await runs(node, 'files');
    const bytes = randomBytes(BYTES);
    writeFileSync(join(node.directory, 'big'), bytes);
    const sent = await runWith(node, '', 'cp', join(node.directory, 'big'), 'files:/tmp');
    expect([sent.code, sent.stderr]).toEqual([0, '']);
    expect((await runWith(node, '', 'exec', 'files', '--', 'sha256sum', '/tmp/big')).stdout).toBe(
      `${sum(bytes)}  /tmp/big\n`,
    );
    const received = await runWith(node, '', 'cp', 'files:/tmp/big', join(node.directory, 'back'));
    expect([received.code, received.stderr]).toEqual([0, "tar: removing leading '/' from member names\n"]);
    expect(sum(readFileSync(join(node.directory, 'back')))).toBe(sum(bytes));
  });

  it('forward a port, attach, and describe', { timeout: SLOW_MACHINE_MS }, async ({ node }) => {
    const script = `mkdir /tmp/www; echo here > /tmp/www/index.html; httpd -p 8081 -h /tmp/www; (while sleep 1; do echo tick; done) & ${WAIT}`;
    node.apply({ name: 'web', containers: [{ script }] });
    await runs(node, 'web');
    const forwarded = start(node, 'port-forward', 'web', ':8081', '--address', '127.0.0.1');
    let [output, problems] = ['', ''];
    forwarded.stdout.on('data', (part: Buffer) => (output += part.toString()));
    forwarded.stderr.on('data', (part: Buffer) => (problems += part.toString()));
    const port = await eventually('it listens', () => /127\.0\.0\.1:(\d+) -> 8081\n/.exec(output)?.[1]);
    await eventually('the server replies', async () => {
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('here\n');
      return true;
    });
    const replies = await Promise.all(
      Array.from({ length: 20 }, async () => (await fetch(`http://127.0.0.1:${port}/index.html`)).text()),
    );
    expect(new Set(replies)).toEqual(new Set(['here\n']));
    forwarded.kill('SIGINT');
    expect([await once(forwarded, 'exit'), problems]).toEqual([[0, null], '']);

    const attached = start(node, 'attach', 'web');
    expect((await once(attached.stdout, 'data')).toString()).toBe('tick\n');
    attached.kill('SIGINT');
    await once(attached, 'exit');
    expect((await runWith(node, '', 'describe', 'web')).stdout).toMatch(/^ {4}State: +Running$/m);
    expect((await runWith(node, '', 'top', 'pod', 'web')).stdout).toMatch(/^default +web-node1 +\d+m +\d+Mi$/m);
  });

  it('a port-forward over containerd ends with its pod', { timeout: SLOW_MACHINE_MS }, async ({ node }) => {
    const script = `mkdir /tmp/www; echo here > /tmp/www/index.html; httpd -p 8081 -h /tmp/www; ${WAIT}`;
    node.apply({ name: 'passing', containers: [{ script }] });
    await runs(node, 'passing');
    const forwarded = start(node, 'port-forward', 'passing', ':8081', '--address', '127.0.0.1');
    let [output, problems] = ['', ''];
    forwarded.stdout.on('data', (part: Buffer) => (output += part.toString()));
    forwarded.stderr.on('data', (part: Buffer) => (problems += part.toString()));
    const exit = once(forwarded, 'exit');
    const port = await eventually('it listens', () => /127\.0\.0\.1:(\d+) -> 8081\n/.exec(output)?.[1]);
    await eventually('the server replies', async () => {
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('here\n');
      return true;
    });
    node.delete('passing.yaml');
    expect(await exit).toEqual([1, null]);
    expect(problems).toBe('Error: lost connection to pod\n');
  });

  it('attach to a shell on a terminal and leave it running', { timeout: SLOW_MACHINE_MS }, async ({ node }) => {
    node.apply({ name: 'typed', containers: [{ script: 'exec sh', stdin: true, tty: true }] });
    await runs(node, 'typed');
    const container = async () => (await node.podStatus('typed'))?.containerStatuses?.[0];
    const { containerID } = (await container())!;
    const first = onTerminal(node, 'attach', '-it typed');
    // The runtime passes input on before it has attached the output, of which the beginning may be lost.
    await eventually('the shell answers', () => {
      first.input.write('kept=41; echo $((kept + 1)) $(stty size)\r');
      return first.text.includes('42 31 97\r');
    });
    first.resize(40, 120);
    first.input.write('until [ "$(stty size)" = "40 120" ]; do sleep 0.05; done; echo $((kept + 8))\r');
    await eventually('the shell has the other size', () => first.text.includes('49\r'));
    await first.close();

    const second = onTerminal(node, 'attach', '-it typed');
    await eventually('it is the same shell', () => {
      second.input.write('echo $((kept + 2))\r');
      return second.text.includes('43\r');
    });
    expect(await container()).toMatchObject({ containerID, restartCount: 0, state: { running: {} } });
    second.input.write('exit 0\r');
    expect(await second.exit).toEqual([0, null]);
  });
});
