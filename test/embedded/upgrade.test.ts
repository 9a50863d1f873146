import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { isAlive } from '../../src/runtime/embedded/confinement/process-tree.js';
import { type Daemon, it } from './daemon.js';
import { eventually } from './eventually.js';
import { InstalledPackage } from './installed-package.js';
import { SLEEP } from './manifests.js';

const SLOW_MACHINE_MS = 480_000;
const COUNT = 'i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done';
/** Its manifest is read in a thread of its own. */
const LARGE = { name: 'large', containers: [{ script: `${SLEEP} # ${'x'.repeat(32 * 1024)}` }] };

const packageOf = (daemon: Daemon, version: string): InstalledPackage => {
  const installed = new InstalledPackage(join(daemon.directory, 'installed'));
  installed.install(version);
  daemon.program = installed.program;
  return installed;
};

const command = (daemon: Daemon, name: string, ...args: readonly string[]) =>
  daemon.run(name, '--root-dir', daemon.rootDir, ...args);

/** Resolves with an `exec` that waits, once its command runs; `ended` is what it says at its end. */
const openSession = async (daemon: Daemon) => {
  const client = daemon.process([
    'exec',
    '--root-dir',
    daemon.rootDir,
    'one',
    '--',
    'sh',
    '-c',
    'echo here; sleep 3600',
  ]);
  const ended = Promise.all([once(client, 'exit'), text(client.stderr!)]).then(([[code], stderr]) => ({
    code: code as number,
    stderr,
  }));
  await once(client.stdout!, 'data');
  return { ended };
};

const replacements = (daemon: Daemon): number =>
  daemon.logged().filter(({ message }) => message.startsWith('the embedded runtime of another version is replaced'))
    .length;

/** That no line of the counter is missing or there twice. */
const expectWholeLog = async (daemon: Daemon): Promise<void> => {
  const { stdout } = await command(daemon, 'logs', 'one');
  const lines = stdout.trim().split('\n').map(Number);
  expect(lines.length).toBeGreaterThan(10);
  expect(lines).toEqual(lines.map((_, index) => index + 1));
};

it(
  'an agent and its runtime go on when another version takes the place of their files',
  async ({ daemon }) => {
    const installed = packageOf(daemon, '1.0.0');
    daemon.apply({ name: 'one', containers: [{ script: COUNT }] });
    await daemon.start();
    await daemon.reached('one', 'CONTAINER_RUNNING');
    installed.install('2.0.0');

    expect(await command(daemon, 'exec', 'one', '--', 'echo', 'in it')).toEqual({
      code: 0,
      stdout: 'in it\n',
      stderr: '',
    });
    const copy = join(daemon.directory, 'copy');
    expect((await command(daemon, 'cp', 'one:/proc/version', copy)).code).toBe(0);
    expect(existsSync(copy)).toBe(true);
    daemon.apply(LARGE);
    await daemon.reached('large', 'CONTAINER_RUNNING');
    await daemon.killRuntime('SIGKILL');
    daemon.apply({ name: 'late', containers: [{ script: SLEEP }] });
    await daemon.reached('late', 'CONTAINER_RUNNING');
    await expectWholeLog(daemon);
    expect(await daemon.containersOf('one')).toHaveLength(1);
    expect(replacements(daemon)).toBe(0);
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  },
  SLOW_MACHINE_MS,
);

it(
  'a runtime ends by SIGTERM when no file of it is left, and its sessions with a word',
  async ({ daemon }) => {
    const installed = packageOf(daemon, '1.0.0');
    daemon.apply({ name: 'one', containers: [{ script: COUNT }] });
    await daemon.start();
    const { id } = await daemon.reached('one', 'CONTAINER_RUNNING');
    const session = await openSession(daemon);
    installed.remove();
    await daemon.killRuntime('SIGTERM');
    expect(await session.ended).toEqual({
      code: 1,
      stderr:
        'Error: Internal error occurred: error executing command in container: the container runtime ends, and its sessions with it; the container runs on\n',
    });
    installed.install('2.0.0');
    await eventually('the agent has started the runtime that is there now', () => daemon.runtimeProcess());
    expect(await daemon.reached('one', 'CONTAINER_RUNNING')).toMatchObject({ id });
  },
  SLOW_MACHINE_MS,
);

it(
  'the next agent replaces a runtime of another version while the containers run on, and leaves one of its own',
  async ({ daemon }) => {
    const installed = packageOf(daemon, '1.0.0');
    daemon.apply({ name: 'one', containers: [{ script: COUNT }] });
    await daemon.start();
    const { id } = await daemon.reached('one', 'CONTAINER_RUNNING');
    const first = daemon.runtimeProcess()!;
    await daemon.kill('SIGTERM');
    await daemon.start();
    expect([daemon.runtimeProcess(), replacements(daemon)]).toEqual([first, 0]);

    await daemon.kill('SIGTERM');
    installed.install('2.0.0');
    await daemon.start();
    expect(isAlive(first)).toBe(false);
    expect(replacements(daemon)).toBe(1);
    expect(await daemon.reached('one', 'CONTAINER_RUNNING')).toMatchObject({ id });
    expect((await command(daemon, 'exec', 'one', '--', 'echo', 'in it')).stdout).toBe('in it\n');
    await expectWholeLog(daemon);
  },
  SLOW_MACHINE_MS,
);

it.for(['root', 'runtime/state'])(
  'an agent refuses files of a later format in %s, and touches nothing',
  { timeout: SLOW_MACHINE_MS },
  async (folder, { daemon }) => {
    const installed = packageOf(daemon, '1.0.0');
    daemon.apply({ name: 'one', containers: [{ script: COUNT }] });
    await daemon.start();
    await daemon.reached('one', 'CONTAINER_RUNNING');
    const runtime = daemon.runtimeProcess();
    await daemon.kill('SIGTERM');
    const directory = folder === 'root' ? daemon.rootDir : join(daemon.rootDir, folder);
    writeFileSync(join(directory, 'format.json'), JSON.stringify({ format: 2, version: '3.1.4' }));
    installed.install('0.9.0');
    const { code, stderr } = await daemon.run(
      'run',
      '--root-dir',
      daemon.rootDir,
      '--pod-manifest-path',
      daemon.manifests,
    );
    expect([code, stderr]).toEqual([
      1,
      `Error: ${directory} was written by rx-kubelet 3.1.4 in format 2, and this version reads formats up to 1: run version 3.1.4 or a later one, or choose another folder\n`,
    ]);
    expect(daemon.runtimeProcess()).toEqual(runtime);
  },
);

/** Adds a field to each record, and takes those away that another version need not have. */
const changeRecords = (daemon: Daemon): void => {
  for (const [folder, file] of [
    ['sandboxes', 'sandbox.json'],
    ['containers', 'container.json'],
  ] as const) {
    const root = join(daemon.rootDir, 'runtime', 'state', folder);
    for (const id of readdirSync(root)) {
      const path = join(root, id, file);
      const record = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
      for (const name of ['covers', 'points', 'namespaces', 'later'])
        if (name in record) delete record[name];
        else record[name === 'later' ? name : 'later'] = { of: 'another version' };
      writeFileSync(path, JSON.stringify(record));
    }
  }
};

it(
  'twenty upgrades and downgrades lose no container and no line, however agent and runtime ended',
  async ({ daemon }) => {
    const installed = packageOf(daemon, '1.0.0');
    daemon.apply({ name: 'one', containers: [{ script: COUNT }] });
    await daemon.start();
    const { id } = await daemon.reached('one', 'CONTAINER_RUNNING');
    for (let round = 1; round <= 20; round += 1) {
      await daemon.kill(round % 3 === 0 ? 'SIGKILL' : 'SIGTERM');
      if (round % 4 === 0) {
        await daemon.killRuntime('SIGKILL');
        changeRecords(daemon);
      }
      installed.install(round % 2 === 0 ? '1.0.0' : '2.0.0');
      await daemon.start();
      expect(await daemon.reached('one', 'CONTAINER_RUNNING')).toMatchObject({ id });
      const told = await command(daemon, 'exec', 'one', '--', 'echo', `round ${round}`);
      expect(told).toEqual({ code: 0, stdout: `round ${round}\n`, stderr: '' });
    }
    expect(replacements(daemon)).toBe(15);
    await expectWholeLog(daemon);
    expect(await daemon.containersOf('one')).toHaveLength(1);
  },
  SLOW_MACHINE_MS,
);
