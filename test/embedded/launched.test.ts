import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { type Daemon, freePort, it } from './daemon.js';
import { eventually } from './eventually.js';

/** Prints a line, then echoes on a port. */
const serving = (line: string, port: number): string =>
  `echo ${line}; exec '${process.execPath}' -e "require('net').createServer((s) => s.pipe(s)).listen(${port}, '127.0.0.1')"`;

/** A command of a user on this agent. */
const command = (daemon: Daemon, name: string, ...args: readonly string[]) =>
  daemon.run(name, '--root-dir', daemon.rootDir, ...args);

/** Whether a server on this port of the loopback interface echoes. */
const echoes = async (port: number): Promise<boolean> => {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.end('over here');
  return (await text(socket).catch(() => '')) === 'over here';
};

describe('rx-kubelet with this Node', () => {
  it('runs a pod, its commands, an edit, and a second start after kill -9', async ({ daemon }) => {
    daemon.isLaunched = true;
    const port = await freePort();
    const apply = (line: string) => daemon.apply({ name: 'web', containers: [{ script: serving(line, port) }] });
    apply('first');
    await daemon.start();
    await eventually('the server of the pod echoes', () => echoes(port));

    expect(await command(daemon, 'logs', 'web')).toEqual({ code: 0, stdout: 'first\n', stderr: '' });
    const failed = await command(daemon, 'exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3');
    expect(failed).toEqual({ code: 3, stdout: 'out\n', stderr: 'err\ncommand terminated with exit code 3\n' });
    const [sent, there, back] = ['sent', 'there', 'back'].map((name) => join(daemon.directory, name)) as [
      ...[string, string, string],
    ];
    writeFileSync(sent, 'carried\n'.repeat(100_000));
    expect((await command(daemon, 'cp', sent, `web:${there}`)).code).toBe(0);
    expect((await command(daemon, 'cp', `web:${there}`, back)).code).toBe(0);
    expect(readFileSync(back, 'utf8')).toBe(readFileSync(sent, 'utf8'));

    const forwarded = await freePort();
    const forward = daemon.process(['port-forward', '--root-dir', daemon.rootDir, 'web', `${forwarded}:${port}`]);
    await eventually('the forwarded port echoes', () => echoes(forwarded));
    const ended = once(forward, 'exit');
    forward.kill('SIGINT');
    await ended;

    apply('second');
    await eventually('the edited pod has printed its line', async () => {
      const { code, stdout } = await command(daemon, 'logs', 'web');
      return code === 0 && stdout === 'second\n';
    });
    const before = await daemon.reached('web', 'CONTAINER_RUNNING');

    expect(await daemon.kill('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await daemon.start();
    await eventually('the next agent shows the pod as running', async () =>
      (await daemon.shownPods()).some(({ status }) => status?.phase === 'Running'),
    );
    expect((await daemon.reached('web', 'CONTAINER_RUNNING')).id).toBe(before.id);
    expect((await command(daemon, 'exec', 'web', '--', 'echo', 'still here')).stdout).toBe('still here\n');
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});

describe('bin/rx-kubelet', () => {
  /** The arguments that a Node which refuses these flags gets from it. */
  const argumentsWith = async (daemon: Daemon, refused: string): Promise<readonly string[]> => {
    const [node, log] = [join(daemon.directory, 'node'), join(daemon.directory, 'arguments')];
    const lines = [
      '#!/bin/sh',
      `for flag in "$@"; do case $flag in ${refused}) echo "bad option: $flag" >&2; exit 9;; esac; done`,
      `case $* in *--version) ;; *) echo "$*" >'${log}';; esac`,
    ];
    writeFileSync(node, `${lines.join('\n')}\n`);
    chmodSync(node, 0o755);
    const env = { PATH: [daemon.directory, process.env.PATH].join(delimiter) };
    const child = spawn(resolve('bin/rx-kubelet'), ['pods', '-o', 'wide'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const exit = once(child, 'exit') as Promise<[code: number | null]>;
    const [stderr, [code]] = await Promise.all([text(child.stderr), exit]);
    expect([code, stderr]).toEqual([0, '']);
    return readFileSync(log, 'utf8').trim().split(' ');
  };
  const OWN = [resolve('dist/rx-kubelet.js'), 'pods', '-o', 'wide'];

  const HEAP = ['--max-semi-space-size', '--single-threaded-gc', '--initial-old-space-size', '--heap-growing-percent'];
  it.for<readonly [node: string, refused: string, late: readonly string[]]>([
    [
      'that counts calls',
      '--interrupt-budget=*',
      ['turbofan', 'osr', 'maglev', 'maglev-osr'].map((what) => `--invocation-count-for-${what}`),
    ],
    ['that counts bytes', '--invocation-count-for-*', ['--interrupt-budget']],
    ['that cannot optimise late', '--invocation-count-for-*|--interrupt-budget=*', []],
  ])('gives a Node %s the flags of V8 that it knows', async ([, refused, late], { daemon }) => {
    const passed = await argumentsWith(daemon, refused);
    expect(passed.map((argument) => argument.replace(/=.*/, ''))).toEqual([...HEAP, ...late, ...OWN]);
  });

  it.for(['--single-threaded-gc', '--initial-old-space-size=*', '--heap-growing-percent=*'])(
    'starts a Node that refuses %s with the one flag that Node documents',
    async (refused, { daemon }) => {
      expect(await argumentsWith(daemon, refused)).toEqual(['--max-semi-space-size=2', ...OWN]);
    },
  );
});
