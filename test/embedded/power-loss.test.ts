import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { bootId } from '../../src/runtime/embedded/confinement/process-tree.js';
import { readAgentFile } from '../../src/cli/running-agent/agent-file.js';
import { killProcess } from '../support/kill-process.js';
import type { FileOperation } from '../support/power-loss/file-operation.js';
import {
  ALL_LOST,
  CONTENT_LOST,
  drawnLosses,
  FragileDisk,
  type Losses,
  NOTHING_LOST,
} from '../support/power-loss/fragile-disk.js';
import { fileOperations, tracing } from '../support/power-loss/traced-operations.js';
import { canTrace } from '../support/power-loss/traced-program.js';
import { alone } from './churn.js';
import { BUNDLE, Daemon, isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';
import { configMap } from './objects.js';
import { dice, type Dice, SEED } from './seeded.js';

const LOSSES = Number(process.env.POWER_LOSSES ?? 12);
const SLOW_MACHINE_MS = 600_000 + LOSSES * 20_000;
const TEXT = 'line of a ConfigMap\n'.repeat(1000);

/** The pods of each boot; all of them note each of their starts. */
const POD_NAMES = ['once', 'job', 'steady', 'reader'];

const applyPods = (daemon: Daemon): void => {
  daemon.write('settings.yaml', configMap('settings', { text: TEXT }));
  daemon.apply({ ...alone('once', 'exit 3'), restartPolicy: 'Never' });
  daemon.apply({ ...alone('job', 'exit 0'), restartPolicy: 'OnFailure' });
  const { containers: steady = [] } = alone('steady', SLEEP);
  const postStart = { exec: { command: ['/bin/sh', '-c', 'echo "$NAME" >> "$DIR/hooks-$NAME"'] } };
  daemon.apply({ name: 'steady', containers: steady.map((one) => ({ ...one, lifecycle: { postStart } })) });
  const { containers: reader = [] } = alone('reader', `cksum < /rx/settings/text >> "$DIR/sums-reader"; ${SLEEP}`);
  daemon.apply({
    name: 'reader',
    containers: reader.map((one) => ({ ...one, volumeMounts: [{ name: 'settings', mountPath: '/rx/settings' }] })),
    volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
  });
};

/** The phases that the agent shows when nothing more happens. */
const isSettled = async (daemon: Daemon): Promise<boolean> => {
  const pods = await daemon.shownPods();
  const phases = Object.fromEntries(pods.map(({ metadata, status }) => [metadata.name, status?.phase]));
  const named = (name: string) => `${name}-${NODE_NAME}`;
  expect(phases).toEqual({
    [named('once')]: 'Failed',
    [named('job')]: 'Succeeded',
    [named('steady')]: 'Running',
    [named('reader')]: 'Running',
  });
  expect([daemon.lines('hooks-steady').length, daemon.lines('sums-reader').length]).toEqual([1, 1]);
  return true;
};

/** Runs the pods under an agent whose calls are traced, up to the moment at which nothing more happens. */
const recorded = async (daemon: Daemon): Promise<readonly FileOperation[]> => {
  const trace = join(daemon.directory, 'trace');
  const flags = ['--root-dir', daemon.rootDir, '--hostname-override', NODE_NAME, '--healthz-port', '0'];
  const [program = '', ...args] = [...tracing(trace), process.execPath, BUNDLE, 'run', ...flags];
  const tracer = spawn(program, [...args, '--pod-manifest-path', daemon.manifests], {
    cwd: '/',
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: daemon.directory, UV_USE_IO_URING: '0' },
  });
  const ended = once(tracer, 'exit');
  const killAgent = (): void => killProcess(readAgentFile(join(daemon.rootDir, 'agent.json'))?.pid);
  daemon.beforeDispose(async () => {
    if (tracer.exitCode === null) killAgent();
  });
  await eventually('nothing more happens', () => isSettled(daemon));
  // The traced container makes the last operation that counts.
  const { id } = await daemon.reached('steady', 'CONTAINER_RUNNING');
  const cmd = ['/bin/sh', '-c', ': > "$DIR/recorded"'];
  await daemon.ask((runtime) => runtime.execSync({ containerId: id, cmd, timeout: 20n }));
  // strace itself ends with all that it traces.
  killAgent();
  await off(daemon);
  await ended;
  const operations = fileOperations(readFileSync(trace, 'latin1'), daemon.directory).filter(isOnDisk);
  const end = operations.findIndex((one) => one.kind === 'open' && one.path === join(daemon.directory, 'recorded'));
  if (end === -1) throw new Error('the trace has no end');
  return operations.slice(0, end);
};

/** A container makes its mounts in memory, where only it sees them. */
const isOnDisk = (operation: FileOperation): boolean =>
  operation.kind === 'rename' || !/\/io-\d+\/mounts\//.test(operation.path);

/** Ends the agent, all pods and the runtime, and removes the traces of containers. */
const off = async (daemon: Daemon): Promise<void> => {
  if (daemon.isAgentThere()) await daemon.kill('SIGKILL');
  for (const { id } of await eventually('the runtime answers', () => daemon.sandboxes()))
    await eventually(`sandbox ${id} is removed`, async () => {
      await daemon.ask((runtime) => runtime.removePodSandbox({ podSandboxId: id }));
      return true;
    });
  await daemon.killRuntime('SIGTERM');
  const notes = POD_NAMES.flatMap((name) => [`starts-${name}`, `hooks-${name}`, `sums-${name}`]);
  for (const name of [...notes, 'doubles']) rmSync(join(daemon.directory, name), { force: true });
};

/** What the world had seen of the pods when the power went. */
interface Before {
  readonly starts: (name: string) => number;
  readonly hasEnded: (name: string) => boolean;
}

const beforeLoss = (daemon: Daemon, disk: FragileDisk): Before => {
  const linesOf = (path: string): readonly string[] => (disk.text(path) ?? '').split('\n').slice(0, -1);
  return {
    starts: (name) => linesOf(join(daemon.directory, `starts-${name}`)).length,
    hasEnded: (name) =>
      linesOf(join(daemon.rootDir, 'journal', 'journal.jsonl')).some(
        (line) => line.includes(`"${name}-${NODE_NAME}"`) && line.includes('"ContainerDied"'),
      ),
  };
};

/** Boots with what the loss of power left. Errors: a promise of the agent is broken. */
const boots = async (daemon: Daemon, before: Before): Promise<void> => {
  await daemon.start();
  await eventually('all pods are as wanted', () => isSettled(daemon));
  expect(daemon.lines('doubles')).toEqual([]);
  const starts = (name: string): number => daemon.lines(`starts-${name}`).length;

  // The policy Never runs it at most once, and no end is invented.
  expect(before.starts('once') + starts('once')).toBeLessThanOrEqual(1);
  const { exitCode, reason } = await daemon.reached('once', 'CONTAINER_EXITED');
  const known = [3, 'Error'];
  expect([known, ...(starts('once') === 1 ? [] : [[255, 'Unknown']])]).toContainEqual([exitCode, reason]);
  if (before.hasEnded('once')) expect([exitCode, reason]).toEqual(known);

  // A job runs again only if its end had not been reported.
  const jobEnd = await daemon.reached('job', 'CONTAINER_EXITED');
  expect(jobEnd).toMatchObject({ exitCode: 0, reason: 'Completed' });
  expect(starts('job')).toBeLessThanOrEqual(before.hasEnded('job') ? 0 : 1);
  expect(before.starts('job') + starts('job')).toBeGreaterThanOrEqual(1);

  // Others start once in the new boot, with their hooks and whole files.
  expect([starts('steady'), starts('reader')]).toEqual([1, 1]);
  expectWholeFiles(daemon);
};

/** The sums of the file of the ConfigMap that containers have read. */
const expectWholeFiles = (daemon: Daemon): void => {
  const [sum] = spawnSync('cksum', { input: TEXT }).stdout.toString().split('\n');
  expect(daemon.lines('sums-reader')).toEqual([sum]);
};

const lossOf = (draw: Dice): readonly [name: string, losses: Losses] =>
  draw.oneOf([
    ['all lost', ALL_LOST],
    ['all lost', ALL_LOST],
    ['content lost', CONTENT_LOST],
    ['nothing lost', NOTHING_LOST],
    ['drawn', drawnLosses(draw.between)],
    ['drawn', drawnLosses(draw.between)],
  ] as const);

/** After each operation on files of pods and of the runtime; the others, such as those on logs and the journal, are most of all. */
const momentsOf = (operations: readonly FileOperation[]): readonly number[] =>
  operations.flatMap((operation, index) => {
    const path = operation.kind === 'rename' ? operation.to : operation.path;
    return /\/(runtime\/state|pods)\//.test(path) && !/log-checkpoint|\/std(out|err)$/.test(path) ? [index + 1] : [];
  });

const shown = (operation: FileOperation): string =>
  operation.kind === 'rename'
    ? `rename ${operation.from} to ${basename(operation.to)}`
    : `${operation.kind} ${operation.path}`;

/** The records of the runtime name the boot that they were made in. */
const ofEarlierBoot = (content: Buffer): Buffer =>
  Buffer.from(content.toString('latin1').replaceAll(bootId(), [...bootId()].toReversed().join('')), 'latin1');

describe.runIf(isRoot && canTrace)('a loss of power', () => {
  it(
    `loses no pod, runs none twice and invents no end, at ${LOSSES} moments (SEED=${SEED})`,
    async ({ daemon }) => {
      applyPods(daemon);
      const operations = await recorded(daemon);
      const draw = dice(SEED);
      const moments = momentsOf(operations);
      for (let loss = 1; loss <= LOSSES; loss += 1) {
        const moment = draw.oneOf(moments);
        const [name, losses] = lossOf(draw);
        const disk = new FragileDisk(daemon.directory);
        disk.apply({ kind: 'mkdir', path: daemon.rootDir, mode: 0o755 });
        disk.apply({ kind: 'sync', path: daemon.directory });
        for (const operation of operations.slice(0, moment)) disk.apply(operation);
        rmSync(daemon.rootDir, { recursive: true, force: true });
        disk.leave(daemon.rootDir, losses, ofEarlierBoot);
        try {
          await boots(daemon, beforeLoss(daemon, disk));
        } catch (error) {
          const last = operations[moment - 1];
          throw new Error(
            `loss ${loss} of ${LOSSES}, ${name}, after ${moment} of ${operations.length} operations, the last one ${last && shown(last)}: ${String(error)}`,
            { cause: error },
          );
        }
        await off(daemon);
      }
    },
    SLOW_MACHINE_MS,
  );
});

describe.runIf(isRoot)('a file of a volume that a loss of power has cut off', () => {
  it.each([0, 100])('after %i bytes is whole before a container reads it', async (length) => {
    const daemon = new Daemon();
    onTestFinished(() => daemon.dispose());
    applyPods(daemon);
    await daemon.start();
    await eventually('nothing more happens', () => isSettled(daemon));
    await off(daemon);
    const pods = join(daemon.rootDir, 'pods');
    const files = readdirSync(pods)
      .map((uid) => join(pods, uid, 'volumes', 'kubernetes.io~configmap', 'settings', '..data', 'text'))
      .filter((path) => existsSync(path));
    expect(files).toHaveLength(1);
    for (const path of files) truncateSync(path, length);
    await daemon.start();
    await eventually('nothing more happens', () => isSettled(daemon));
    expectWholeFiles(daemon);
  });
});
