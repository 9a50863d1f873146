import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { sendSignal } from '../../src/runtime/embedded/confinement/process-tree.js';
import { alone, churn, runningVersions } from './churn.js';
import { isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';
import { processesNaming, readTextOf } from './processes.js';
import { linesOver } from './rotated-logs.js';
import { dice, pause, SEED } from './seeded.js';
import { watchRuntime } from './watch.js';

const KILLS = 50;
/** The machine has no path that begins with it. */
const ABSENT = `/rx-kills-${process.pid}`;
/** The agent waits longer each time before it starts the runtime again; another agent begins with its shortest wait. */
const KILLS_PER_AGENT = 3;
const SLOW_MACHINE_MS = 600_000;
const CONVERGED_MS = 120_000;

describe('an embedded runtime that is killed', () => {
  it(
    `loses no process, no line and no exit code (SEED=${SEED})`,
    async ({ daemon }) => {
      const draw = dice(SEED);
      const untouched = ['steady-0', 'steady-1'];
      for (const name of untouched) daemon.apply(alone(name, SLEEP));
      const stopFile = join(daemon.directory, 'stop-counting');
      const count = `i=0; while [ ! -e ${stopFile} ]; do i=$((i+1)); echo $i; echo $i >&2; [ $((i % 20)) = 0 ] && sleep 0.05; done; echo end $i; exit 23`;
      daemon.apply({ ...alone('counter', count), restartPolicy: 'Never' });
      const changing = churn(daemon, ['c0', 'c1', 'c2'], draw);
      const codes = new Map<string, number>();
      const addJob = (): void => {
        const name = `job-${codes.size}`;
        const code = codes.size + 1;
        // Its termination message needs a mount where the machine has no mount point.
        const message = `${ABSENT}-${name}/message`;
        const writes = isRoot ? `echo ${name} > ${message} || exit 99` : ':';
        const script = `echo ${name}; ${writes}; sleep 0.${draw.between(0, 9)}; exit ${code}`;
        const { containers = [], ...pod } = alone(name, script);
        const mounted = containers.map((container) => ({ ...container, terminationMessagePath: message }));
        daemon.apply({ ...pod, containers: mounted, restartPolicy: 'Never' });
        codes.set(name, code);
      };
      await daemon.start();
      const atFirst = await Promise.all(
        [...untouched, 'counter'].map(async (name) => {
          const { id, startedAt } = await daemon.reached(name, 'CONTAINER_RUNNING');
          return { name, id, startedAt, process: await daemon.firstProcessOf(name) };
        }),
      );
      const watch = watchRuntime(daemon);

      for (let kill = 1; kill <= KILLS; kill += 1) {
        if (draw.between(1, 2) === 1) addJob();
        if (draw.between(1, 2) === 1) changing.step();
        // Some are killed while they take over what runs, some while they start or stop what has just changed.
        await pause(draw.between(0, 400));
        await daemon.killRuntime('SIGKILL');
        if (kill % KILLS_PER_AGENT === 0) {
          await daemon.kill(draw.oneOf(['SIGKILL', 'SIGTERM']));
          daemon.spawn('--pod-manifest-path', daemon.manifests);
        }
        await eventually('the agent brings the runtime back', () => daemon.runtimeProcess());
      }
      await eventually(
        'what runs is what the manifests say',
        async () => {
          expect(Object.fromEntries(await runningVersions(daemon))).toEqual(Object.fromEntries(changing.wanted));
          return true;
        },
        CONVERGED_MS,
      );

      // No process was lost or started again.
      for (const { name, id, startedAt, process } of atFirst) {
        expect(await daemon.reached(name, 'CONTAINER_RUNNING')).toMatchObject({ id, startedAt });
        expect(daemon.processesOf(name)).toContainEqual(process);
        expect(daemon.lines(`starts-${name}`)).toHaveLength(1);
      }

      // Every job has run once and ended with its own code.
      for (const [name, exitCode] of codes) {
        const ended = await daemon.reached(name, 'CONTAINER_EXITED');
        expect([name, ended.exitCode, ended.reason, ended.message]).toEqual([name, exitCode, 'Error', '']);
        expect(daemon.output(ended)).toEqual([name]);
        expect([name, daemon.lines(`starts-${name}`).length]).toEqual([name, 1]);
      }
      const ends = new Set([...watch.ends.values()].map(({ exitCode, reason }) => `${exitCode} ${reason}`));
      const ofJobs = [...codes.values()].map((code) => `${code} Error`);
      // What ends a changed pod: its own trap, the signal, or the kill after it.
      expect([...ends].filter((end) => !['0 Completed', '143 Error', '137 Error', ...ofJobs].includes(end))).toEqual(
        [],
      );

      // No line was lost or doubled.
      writeFileSync(stopFile, '');
      const counter = await daemon.reached('counter', 'CONTAINER_EXITED');
      expect(counter).toMatchObject({ id: atFirst[2]?.id, exitCode: 23, reason: 'Error' });
      // On a slow machine the log is rotated meanwhile.
      const lines = await eventually('its whole log', () => linesOver(counter.logPath));
      const written = (wanted: string) => lines.filter(({ stream }) => stream === wanted).map(({ content }) => content);
      const numbers = written('stdout');
      expect(numbers.pop()).toBe(`end ${numbers.length}`);
      expect(numbers.length).toBeGreaterThan(KILLS);
      expect(numbers.findIndex((line, index) => line !== String(index + 1))).toBe(-1);
      expect(written('stderr')).toEqual(numbers);

      await eventually('the watch has looked often enough', () => watch.looks() > KILLS);
      await watch.stop();
      expect(watch.violations).toEqual([]);
      expect(daemon.lines('doubles')).toEqual([]);

      // The mounts of the jobs have come true, and are gone.
      for (const name of isRoot ? codes.keys() : [])
        await eventually('the agent shows its termination message', async () => {
          const pod = (await daemon.shownPods()).find(({ metadata }) => metadata.name === `${name}-${NODE_NAME}`);
          return pod?.status?.containerStatuses?.[0]?.state?.terminated?.message === `${name}\n`;
        });
      await eventually('the mounts are gone', () => {
        expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(daemon.directory);
        expect(readdirSync('/').filter((name) => `/${name}`.startsWith(ABSENT))).toEqual([]);
        return true;
      });
    },
    SLOW_MACHINE_MS,
  );

  it('calls an end unknown that no runtime has seen', async ({ daemon }) => {
    daemon.apply({ ...alone('witness', SLEEP), restartPolicy: 'Never' });
    await daemon.start();
    const { id } = await daemon.reached('witness', 'CONTAINER_RUNNING');
    await daemon.killRuntime('SIGKILL');
    // The supervisor, which would write the code down, goes before the container does.
    const isSupervisor = (pid: number) => readTextOf(pid, 'cmdline').includes('supervise.sh');
    const processes = processesNaming([id]).toSorted(
      (a, b) => Number(isSupervisor(b.pid)) - Number(isSupervisor(a.pid)),
    );
    expect(processes.map(({ pid }) => isSupervisor(pid))[0]).toBe(true);
    for (const { pid } of processes) sendSignal(pid, 'SIGKILL');
    expect(await daemon.reached('witness', 'CONTAINER_EXITED')).toMatchObject({ id, exitCode: 255, reason: 'Unknown' });
    await eventually('the agent shows the same', async () => {
      const [pod] = await daemon.shownPods();
      expect(pod?.status).toMatchObject({
        phase: 'Failed',
        containerStatuses: [{ restartCount: 0, state: { terminated: { exitCode: 255, reason: 'Unknown' } } }],
      });
      return true;
    });
    expect(daemon.lines('starts-witness')).toHaveLength(1);
  });
});
