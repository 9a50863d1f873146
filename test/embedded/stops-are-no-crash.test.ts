import { describe, expect } from 'vitest';
import { sendSignal } from '../../src/runtime/embedded/confinement/process-tree.js';
import { type Daemon, it } from './daemon.js';
import { eventually } from './eventually.js';
import { processesNaming } from './processes.js';

const SLOW_MACHINE_MS = 300_000;
const PODS = ['one', 'two', 'three'];
/** Ends well when it is asked to. */
const OBEDIENT = "trap 'exit 0' TERM; while :; do sleep 0.05; done";
const STUBBORN = "trap '' TERM; while :; do sleep 0.05; done";
const ROUNDS = [1, 2, 3];

/** The waits of containers, and the reasons why the ends of others made none. */
const toldOf = (daemon: Daemon) => ({
  waits: daemon
    .journal()
    .flatMap((entry) => (entry.kind === 'back-off' && entry.subject === 'restart' ? [entry.delayMs] : [])),
  uncounted: new Set(daemon.journal().flatMap((entry) => (entry.kind === 'end-not-counted' ? [entry.because] : []))),
});

const allRun = (daemon: Daemon, attempt: number) =>
  Promise.all(PODS.map((name) => daemon.reached(name, 'CONTAINER_RUNNING', { attempt })));

/** As a loss of power does, except that the disk stays as it is: the agent first, which would start the runtime again, and then everything. */
const killAll = async (daemon: Daemon): Promise<void> => {
  await daemon.kill('SIGKILL');
  await daemon.killRuntime('SIGKILL');
  await eventually('every process has ended', () => {
    const left = processesNaming([daemon.directory]);
    for (const { pid } of left) sendSignal(pid, 'SIGKILL');
    return left.length === 0;
  });
};

describe('a healthy container starts without a wait', () => {
  it(
    'a healthy container starts without a wait, however often its agent has stopped it at its own end',
    async ({ daemon }) => {
      for (const name of PODS) daemon.apply({ name, containers: [{ script: OBEDIENT }] });
      await daemon.start('--stop-pods-on-exit');
      await allRun(daemon, 0);
      for (const round of ROUNDS) {
        expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
        await daemon.start('--stop-pods-on-exit');
        await allRun(daemon, round);
      }
      expect(toldOf(daemon)).toEqual({ waits: [], uncounted: new Set(['was asked for by the agent']) });
      const { stdout } = await daemon.run('why', 'one', '--root-dir', daemon.rootDir);
      expect(stdout).toContain('main starts without a wait: its end with exit code 0 was asked for by the agent');
    },
    SLOW_MACHINE_MS,
  );

  it(
    'a healthy container starts without a wait, however often everything was killed',
    async ({ daemon }) => {
      for (const name of PODS) daemon.apply({ name, containers: [{ script: OBEDIENT }] });
      await daemon.start();
      await allRun(daemon, 0);
      for (const round of ROUNDS) {
        await killAll(daemon);
        await daemon.start();
        await allRun(daemon, round);
      }
      const { waits, uncounted } = toldOf(daemon);
      expect(waits).toEqual([]);
      expect([...uncounted].every((because) => /unknown|its sandbox has ended/.test(because))).toBe(true);
      expect(uncounted.size).toBeGreaterThan(0);
    },
    SLOW_MACHINE_MS,
  );

  it(
    'a healthy container starts without a wait, however often its agent was killed while it stopped the pod',
    async ({ daemon }) => {
      const containers = [{ script: OBEDIENT }, { name: 'other', script: STUBBORN }];
      daemon.apply({ name: 'one', terminationGracePeriodSeconds: 3_600, containers });
      await daemon.start('--stop-pods-on-exit');
      for (const round of ROUNDS) {
        await daemon.reached('one', 'CONTAINER_RUNNING', { attempt: round - 1 });
        // Without it the stop of the pod would not wait, and end its sandbox.
        await daemon.reached('one', 'CONTAINER_RUNNING', { name: 'other' });
        const ended = daemon.kill('SIGTERM');
        await daemon.reached('one', 'CONTAINER_EXITED', { attempt: round - 1 });
        await daemon.kill('SIGKILL');
        expect(await ended).toEqual({ code: null, signal: 'SIGKILL' });
        await daemon.start('--stop-pods-on-exit');
      }
      await daemon.reached('one', 'CONTAINER_RUNNING', { attempt: ROUNDS.length });
      expect(toldOf(daemon)).toEqual({ waits: [], uncounted: new Set(['was asked for by the agent']) });
      expect(await daemon.containersOf('one', 'other')).toHaveLength(1);
    },
    SLOW_MACHINE_MS,
  );

  it(
    'a healthy container starts without a wait, however often its manifest was taken away and given back',
    async ({ daemon }) => {
      const give = () => daemon.apply({ name: 'one', containers: [{ script: OBEDIENT }] });
      give();
      await daemon.start();
      await daemon.reached('one', 'CONTAINER_RUNNING');
      for (const round of ROUNDS) {
        const [{ id } = { id: '' }] = await daemon.containersOf('one');
        daemon.withdraw('one');
        await eventually('the agent has forgotten the pod', async () => (await daemon.shownPods()).length === 0);
        give();
        await eventually(`another instance runs in round ${round}`, async () => {
          const [newest] = await daemon.containersOf('one');
          return newest?.state === 'CONTAINER_RUNNING' && newest.id !== id;
        });
      }
      expect(toldOf(daemon).waits).toEqual([]);
    },
    SLOW_MACHINE_MS,
  );
});

it(
  'a container that ends by itself waits in the next agent as well',
  async ({ daemon }) => {
    daemon.apply({ name: 'one', containers: [{ script: 'exit 3' }] });
    await daemon.start();
    const waitOf = (from: 'runtime' | undefined) =>
      eventually(`a wait, from ${from ?? 'this agent'}`, () =>
        daemon.journal().find((entry) => entry.kind === 'back-off' && entry.from === from),
      );
    await waitOf(undefined);
    await daemon.kill('SIGKILL');
    await daemon.start();
    expect(await waitOf('runtime')).toMatchObject({ exitCode: 3, delayMs: 10_000, step: 1 });
  },
  SLOW_MACHINE_MS,
);
