import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { BUNDLE, type Daemon, it } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';
import { onTerminal } from './on-terminal.js';
import { processesNaming } from './processes.js';

/** Starts `exec` with these arguments; standard input is a pipe. */
const start = (daemon: Daemon, args: readonly string[]) => {
  const child = spawn(process.execPath, [BUNDLE, 'exec', '--root-dir', daemon.rootDir, ...args]);
  daemon.beforeDispose(async () => child.kill('SIGKILL'));
  return child;
};

/** Runs `exec` to its end with this input. */
const exec = async (daemon: Daemon, args: readonly string[], input: string | Buffer = '') => {
  const child = start(daemon, args);
  const exit = once(child, 'exit') as Promise<[code: number | null]>;
  child.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, stdout, stderr };
};

const started = async (daemon: Daemon): Promise<void> => {
  daemon.apply({
    name: 'web',
    containers: [
      { name: 'main', script: SLEEP },
      { name: 'side', script: SLEEP },
    ],
  });
  await daemon.start();
  await daemon.reached('web', 'CONTAINER_RUNNING', { name: 'main' });
  await daemon.reached('web', 'CONTAINER_RUNNING', { name: 'side' });
  await eventually('the agent knows both', async () => {
    const [pod] = await daemon.shownPods();
    return pod?.status?.containerStatuses?.every(({ state }) => state?.running) === true;
  });
};

const NOTE = 'Defaulted container "main" out of: main, side\n';

describe.concurrent('exec without a cluster', () => {
  it('runs a command in a container, with its streams and its exit code', async ({ daemon }) => {
    await started(daemon);
    expect(await exec(daemon, ['web', '--', 'echo', 'a  b'])).toEqual({ code: 0, stdout: 'a  b\n', stderr: NOTE });
    for (const target of [['web/side'], ['web-node1', '-c', 'side'], ['pod/web', '-n', 'default', '-c', 'side']]) {
      const result = await exec(daemon, [...target, '--', 'sh', '-c', 'echo "$RX_TEST_CONTAINER"; echo e >&2; exit 3']);
      expect(result).toEqual({
        code: 3,
        stdout: `${daemon.directory}/web/side\n`,
        stderr: 'e\ncommand terminated with exit code 3\n',
      });
    }
    const killed = await exec(daemon, ['web/side', '--', 'sh', '-c', 'kill -9 $$']);
    expect(killed).toEqual({ code: 137, stdout: '', stderr: 'command terminated with exit code 137\n' });
    const input = Buffer.alloc(3_000_000, 'line of input\n');
    expect(await exec(daemon, ['-i', 'web/side', '--', 'wc', '-c'], input)).toMatchObject({ stdout: '3000000\n' });
    expect(await exec(daemon, ['web/side', '--', 'wc', '-c'], input)).toMatchObject({ code: 0, stdout: '0\n' });
    expect(await exec(daemon, ['-qit', 'web', '--', 'cat'], 'x')).toEqual({ code: 0, stdout: 'x', stderr: '' });
    expect(await exec(daemon, ['-it', 'web/main', '--', 'cat'], 'x')).toMatchObject({
      stderr: 'Unable to use a TTY - input is not a terminal or the right kind of file\n',
    });
  });

  it('has the errors of kubectl', async ({ daemon }) => {
    await started(daemon);
    const problems: readonly (readonly [args: readonly string[], problem: string])[] = [
      [['wep', '--', 'ls'], 'pods "wep" not found; pods here: web-node1_default'],
      [['web', '-n', 'x', '--', 'ls'], 'pods "web" not found in namespace "x"; pods here: web-node1_default'],
      [['web/other', '--', 'ls'], 'container other not found in pod web-node1'],
      [['web'], 'you must specify at least one command for the container'],
      [
        ['-q', 'web', '--', 'no-such-program'],
        'Internal error occurred: error executing command in container: exec: "no-such-program": executable file not found in $PATH',
      ],
    ];
    for (const [args, problem] of problems) {
      expect(await exec(daemon, args)).toEqual({ code: 1, stdout: '', stderr: `Error: ${problem}\n` });
    }
    await daemon.kill('SIGTERM');
    expect(await exec(daemon, ['web', '--', 'ls'])).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: `Error: no agent runs on ${daemon.rootDir}: ${join(daemon.rootDir, 'agent.json')} is missing (--root-dir names another folder)\n`,
    });
  });

  it('has a terminal of the same size, whose keys reach the command', async ({ daemon }) => {
    await started(daemon);
    const script =
      'tty; read line; stty size; trap "echo interrupted; exit 5" INT; echo "got $line"; while :; do sleep 0.1; done';
    const screen = onTerminal(daemon, 'exec', `-it web/side -- sh -c '${script}'`);
    await eventually('the command has a terminal', () => /\/dev\/pts\/\d+/.test(screen.text));
    screen.input.write('hello\r');
    await eventually('it got the line', () => screen.text.includes('got hello'));
    expect(screen.text).toContain('31 97');
    screen.input.write('\x03');
    expect(await screen.exit).toEqual([5, null]);
    expect(screen.text).toContain('interrupted');
    expect(screen.text).toContain('command terminated with exit code 5');
  });

  it('has a terminal that changes its size with that of the client', async ({ daemon }) => {
    await started(daemon);
    const script = 'echo ready; until [ "$(stty size)" = "40 120" ]; do sleep 0.05; done; echo resized; exit 6';
    const screen = onTerminal(daemon, 'exec', `-it web/side -- sh -c '${script}'`);
    await eventually('the command runs', () => screen.text.includes('ready'));
    screen.resize(40, 120);
    expect(await screen.exit).toEqual([6, null]);
    expect(screen.text).toContain('resized');
  });

  it('attaches keys, size and screen of a terminal to a container', async ({ daemon }) => {
    const script = 'until [ "$(stty size)" = "31 97" ]; do sleep 0.05; done; exec sh';
    daemon.apply({ name: 'shell', containers: [{ script, stdin: true, tty: true }], restartPolicy: 'Never' });
    await daemon.start();
    await daemon.reached('shell', 'CONTAINER_RUNNING');
    await eventually('the agent knows it', async () => (await daemon.shownPods())[0]?.status?.phase === 'Running');
    const screen = onTerminal(daemon, 'attach', '-it shell');
    screen.input.write('echo $((6*7))\r');
    await eventually('the shell has answered', () => screen.text.includes('42\r'));
    screen.resize(40, 120);
    screen.input.write('until [ "$(stty size)" = "40 120" ]; do sleep 0.05; done; echo $((7*7)); exit 3\r');
    await screen.exit;
    expect(screen.text).toContain('49\r');
    await eventually('the pod has ended', async () => (await daemon.shownPods())[0]?.status?.phase === 'Failed');
  });

  it('ends its command when its own output is closed, or when it is interrupted', async ({ daemon }) => {
    await started(daemon);
    const noise = 'echo first; while echo noise; do :; done';
    const closed = start(daemon, ['web/side', '--', 'sh', '-c', `: ${daemon.directory}/closed; ${noise}`]);
    const problems = text(closed.stderr);
    await once(closed.stdout, 'data');
    closed.stdout.destroy();
    expect(await once(closed, 'exit')).toEqual([0, null]);
    expect(await problems).toBe('');
    const sleeping = start(daemon, ['web/side', '--', 'sh', '-c', `: ${daemon.directory}/slept; echo here; ${SLEEP}`]);
    await once(sleeping.stdout, 'data');
    expect(processesNaming([`${daemon.directory}/slept`])).not.toEqual([]);
    sleeping.kill('SIGINT');
    expect(await once(sleeping, 'exit')).toEqual([null, 'SIGINT']);
    await eventually('both commands have ended', () => {
      expect(processesNaming([`${daemon.directory}/closed`, `${daemon.directory}/slept`])).toEqual([]);
      return true;
    });
  });

  it('reports that the agent has ended during a command', async ({ daemon }) => {
    await started(daemon);
    const marker = join(daemon.directory, 'runs');
    const child = start(daemon, ['web/side', '--', 'sh', '-c', `touch ${marker}; ${SLEEP}`]);
    const [problems, exit] = [text(child.stderr), once(child, 'exit')];
    await eventually('the command runs', () => existsSync(marker));
    await daemon.kill('SIGKILL');
    expect(await exit).toEqual([1, null]);
    expect(await problems).toBe('Error: the connection was closed before the end was reported\n');
  });
});
