import { describe, expect } from 'vitest';
import { alone, churn, runningVersions } from './churn.js';
import { it } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';
import { dice, pause, SEED } from './seeded.js';
import { watchRuntime } from './watch.js';

const KILLS = 50;
const SLOW_MACHINE_MS = 600_000;
const CONVERGED_MS = 120_000;
/** Garbage is collected every minute, and a container restarts after half a minute at the most. */
const COLLECTED_MS = 180_000;
const FIRST_BACK_OFF_NS = 10_000_000_000n;

/** Counts the waits, in nanoseconds, that are shorter than the next step; the steps begin again after each of them. */
const waitsWithoutBackOff = ([, ...waits]: readonly bigint[]): number => {
  let count = 0;
  let steps = 0n;
  for (const wait of waits) {
    const isTooShort = wait < FIRST_BACK_OFF_NS * 2n ** steps;
    if (isTooShort) count += 1;
    steps = isTooShort ? 0n : steps + 1n;
  }
  return count;
};

describe('an agent that is killed', () => {
  it(
    `ends up with exactly what the manifests say, and restarts nothing (SEED=${SEED})`,
    async ({ daemon }) => {
      const draw = dice(SEED);
      const untouched = ['steady-0', 'steady-1'];
      for (const name of untouched) daemon.apply(alone(name, SLEEP));
      const time = (what: string) => `echo ${what} $(date +%s%N) >> "$DIR/times"`;
      daemon.apply(alone('failing', `${time('start')}; sleep 0.5; ${time('end')}; exit 9`));
      const changing = churn(daemon, ['c0', 'c1', 'c2', 'c3', 'c4'], draw);
      await daemon.start();
      const atFirst = await Promise.all(
        untouched.map(async (name) => {
          const { id, startedAt } = await daemon.reached(name, 'CONTAINER_RUNNING');
          return { id, startedAt, process: await daemon.processOf(name) };
        }),
      );
      const runtime = daemon.runtimeProcess();
      const watch = watchRuntime(daemon);

      for (let kill = 1; kill <= KILLS; kill += 1) {
        for (let steps = draw.between(0, 2); steps > 0; steps -= 1) changing.step();
        await pause(draw.between(0, 300));
        await daemon.kill('SIGKILL');
        if (draw.between(1, 2) === 1) changing.step();
        // Some are killed before they have done anything, some in the middle of their first pass, some later.
        daemon.spawn('--pod-manifest-path', daemon.manifests);
        await pause(draw.between(100, 900));
      }
      await daemon.kill('SIGKILL');
      await daemon.start();
      await eventually(
        'what runs is what the manifests say',
        async () => {
          expect(Object.fromEntries(await runningVersions(daemon))).toEqual(Object.fromEntries(changing.wanted));
          return true;
        },
        CONVERGED_MS,
      );

      // Nothing healthy was touched.
      for (const [index, name] of untouched.entries()) {
        const { id, startedAt } = await daemon.reached(name, 'CONTAINER_RUNNING');
        expect({ id, startedAt, process: await daemon.processOf(name) }).toEqual(atFirst[index]);
        expect(daemon.lines(`starts-${name}`)).toHaveLength(1);
      }
      expect(daemon.runtimeProcess()).toEqual(runtime);

      // Restarts were counted on, and waited for as if no agent had ever been away.
      // An agent that is killed soon after its start may not have come to restart anything.
      await eventually(
        'it has failed more than once',
        () => daemon.lines('times').filter((line) => line.startsWith('start')).length >= 3,
        COLLECTED_MS,
      );
      // Read in this order: a container is listed before it writes.
      const starts = daemon.lines('times').filter((line) => line.startsWith('start'));
      const [failing] = await daemon.containersOf('failing');
      // What an agent made and did not live to start gives its number to its successor.
      const attempts = [...watch.seen.values()]
        .filter(({ pod, state }) => pod === 'failing-node1' && state !== 'CONTAINER_CREATED')
        .map(({ attempt }) => attempt);
      expect(attempts.toSorted((a, b) => a - b)).toEqual(attempts.map((_, index) => index));
      expect(failing?.attempt).toBeGreaterThanOrEqual(starts.length - 1);
      const times = daemon.lines('times').map((line) => line.split(' '));
      expect(times.map(([what]) => what)).toEqual(times.map((_, index) => (index % 2 === 0 ? 'start' : 'end')));
      const waits = starts
        .slice(1)
        .map((_, index) => BigInt(times[2 * index + 2]?.[1] ?? 0) - BigInt(times[2 * index + 1]?.[1] ?? 0));
      // The first restart is free, then the wait doubles. An agent that finds no evidence that the end was a crash does not wait, and its
      // journal says so.
      const uncounted = daemon
        .journal()
        .filter(({ kind, pod, container }) => kind === 'end-not-counted' && pod?.name === 'failing-node1' && container);
      expect(waitsWithoutBackOff(waits)).toBeLessThanOrEqual(uncounted.length);

      // In the end nothing is left of what is not wanted any more.
      await eventually(
        'the garbage is collected',
        async () => {
          const wanted = (await daemon.sandboxes())
            .filter(({ state }) => state === 'SANDBOX_READY')
            .map(({ id }) => id);
          expect((await daemon.sandboxes()).map(({ id }) => id)).toEqual(wanted);
          expect((await daemon.containers()).every(({ sandboxId }) => wanted.includes(sandboxId))).toBe(true);
          return true;
        },
        COLLECTED_MS,
      );
      await eventually('the watch has looked often enough', () => watch.looks() > KILLS);
      await watch.stop();
      expect(watch.violations).toEqual([]);
      expect(daemon.lines('doubles')).toEqual([]);
      expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
    SLOW_MACHINE_MS,
  );
});
