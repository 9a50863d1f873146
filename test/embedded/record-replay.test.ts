import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { type Change, changedBundle } from '../support/changed-bundle.js';
import { healthServer, type HealthServer } from '../support/health-server.js';
import { type Daemon, it as itWithDaemon, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { liveThrough, RECORD_SECONDS } from './incident.js';
import { SLEEP } from './manifests.js';
import { dice, SEED } from './seeded.js';

const it = itWithDaemon.extend<{ readonly server: HealthServer }>({
  server: async ({}, use) => {
    const server = await healthServer();
    await use(server);
    server.close();
  },
});

const LONGEST_MS = RECORD_SECONDS * 3_000 + 300_000;
const WAIT = "trap 'exit 0' TERM; while :; do sleep 0.1; done";

/** What `replay -o json` says. */
interface Verdict {
  readonly same: boolean;
  readonly entries: number;
  readonly effects: number;
  readonly difference?: {
    readonly entry: number;
    readonly pod?: string;
    /** The journal's name of the entry. */
    readonly journal?: string;
    readonly expected: string;
    readonly actual: string;
    readonly because: readonly string[];
  };
}

/** Replays with the built agent, or with another script. */
const replay = async (script: string, ...args: readonly string[]): Promise<{ code: number; stdout: string }> => {
  const child = spawn(process.execPath, [script, 'replay', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number]>]);
  return { code, stdout };
};

/** The same recording through an agent with one decision changed. */
const replayChanged = async (daemon: Daemon, file: string, change: Change): Promise<Verdict> => {
  const script = await changedBundle(join(daemon.directory, `changed-${change.to.replace(/\W/g, '')}`), change);
  const { code, stdout } = await replay(script, file, '-o', 'json');
  expect(code).toBe(1);
  return JSON.parse(stdout) as Verdict;
};

it(
  `replays a node with churn and kills, and tells of a changed decision (SEED=${SEED})`,
  async ({ daemon, server }) => {
    const file = join(daemon.directory, 'node.rec');
    await daemon.start('--record', file);
    const counts = await liveThrough(daemon, {
      ...{ server, dice: dice(SEED), seconds: RECORD_SECONDS, wait: WAIT },
      revive: () => eventually('the agent brings the runtime back', () => daemon.runtimeProcess()),
    });
    const { code: ended } = await daemon.kill('SIGTERM');
    expect(ended).toBe(0);

    const verdict = await daemon.run('replay', file);
    expect(verdict).toMatchObject({ code: 0, stderr: '' });
    expect(verdict.stdout).toMatch(/^no difference: \d+ entries, \d+ effects, .+ in .+\n$/);
    console.log(`${JSON.stringify(counts)}, ${statSync(file).size} bytes: ${verdict.stdout.trim()}`);

    // The journal says which decision is the first of its kind.
    const journal = daemon.journal();
    const backOff = journal.find((entry) => entry.kind === 'back-off' && entry.subject === 'restart');
    if (backOff?.kind !== 'back-off') throw new Error('nothing was put off');
    const slower = await replayChanged(daemon, file, {
      file: 'src/model/crash-loop-back-off.ts',
      from: 'CRASH_LOOP_INITIAL_MS = 10_000',
      to: 'CRASH_LOOP_INITIAL_MS = 20_000',
    });
    expect(slower).toMatchObject({
      same: false,
      difference: { pod: `${backOff.pod?.name}_${backOff.pod?.namespace}`, journal: backOff.id },
    });
    expect(slower.difference?.expected).toContain('was put off by 10 s');
    expect(slower.difference?.actual).toContain('was put off by 20 s');
    expect(slower.difference?.because.join('\n')).toContain('ended with exit code');
  },
  LONGEST_MS,
);

it('replays an agent that was killed, up to what it had written, and the one after it', async ({ daemon }) => {
  const file = join(daemon.directory, 'node.rec');
  daemon.apply({ name: 'steady', containers: [{ script: SLEEP }] });
  daemon.apply({ name: 'looping', containers: [{ script: 'sleep 0.3; exit 1' }] });
  await daemon.start('--record', file);
  const { id } = await daemon.reached('steady', 'CONTAINER_RUNNING');
  await daemon.reached('looping', 'CONTAINER_EXITED', { attempt: 1 });
  await eventually('some of it is on the disk', async () =>
    (await daemon.run('replay', file, '--pod', 'looping')).stdout.includes('started main'),
  );
  await daemon.kill('SIGKILL');

  const next = join(daemon.directory, 'node-2.rec');
  await daemon.start('--record', file);
  expect(existsSync(next)).toBe(true);
  daemon.apply({ name: 'another', containers: [{ script: SLEEP }] });
  await daemon.reached('another', 'CONTAINER_RUNNING');
  await daemon.kill('SIGTERM');
  // It was adopted.
  expect(await daemon.reached('steady', 'CONTAINER_RUNNING')).toMatchObject({ id });

  for (const [recording, end] of [
    [file, /\nthe recording ends while the agent runs.*\n$/],
    [next, /^no difference.*\n$/],
  ] as const) {
    const { code, stdout, stderr } = await daemon.run('replay', recording);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^no difference: /);
    expect(stdout).toMatch(end);
  }
  const { stdout } = await daemon.run('replay', next, '--pod', `another-${NODE_NAME}`);
  expect(stdout).toMatch(/started main/);
});
