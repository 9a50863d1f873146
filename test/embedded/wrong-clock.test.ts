import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { alone } from './churn.js';
import { type Daemon, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { canFakeTime, FakedClock } from './faked-clock.js';
import { type PodOf, SLEEP } from './manifests.js';
import { type Watch, watchRuntime } from './watch.js';

const SLOW_MACHINE_MS = 600_000;
const HOUR = 3600;
const TEN_YEARS = 3650 * 24 * HOUR;

/** Of each wait in a crash loop, and of the initial delay of the probe. */
const WAIT_SECONDS = 3;
const DEADLINE_SECONDS = 10;
const CONFIGURATION = {
  featureGates: { KubeletCrashLoopBackOffMax: true },
  crashLoopBackOff: { maxContainerRestartPeriod: `${WAIT_SECONDS}s` },
};

/** Notes the time of the machine, which is never set, in milliseconds. */
const note = (file: string): string => `echo $(($(date +%s%N) / 1000000)) >> "$DIR/${file}"`;
const noted = (daemon: Daemon, file: string): readonly number[] => daemon.lines(file).map(Number);

const fakeClock = (daemon: Daemon, file: string, offsetSeconds: number): FakedClock => {
  const clock = new FakedClock(join(daemon.directory, file), offsetSeconds);
  daemon.preload = { args: [], env: clock.env };
  return clock;
};

/** A pod whose container has a probe that succeeds and notes its turns. */
const probed = (name: string, initialDelaySeconds: number): PodOf => {
  const { containers = [] } = alone(name, SLEEP);
  const exec = { command: ['/bin/sh', '-c', note(`probes-${name}`)] };
  const livenessProbe = { exec, initialDelaySeconds, periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 60 };
  return { name, containers: containers.map((one) => ({ ...one, livenessProbe })) };
};

/** It notes its starts, and its last moment, which comes when the test makes the file `end-<n>`. */
const loopingPod = (): PodOf =>
  alone(
    'loop',
    `${note('loop-starts')}; n=$(wc -l < "$DIR/loop-starts"); until [ -e "$DIR/end-$n" ]; do sleep 0.1; done; ${note('loop-ends')}; exit 1`,
  );

const onceRan = { ...alone('once', 'exit 0'), restartPolicy: 'Never' as const };

/** Lets the n-th instance of the loop end; resolves when the agent shows that it waits. */
const endLoop = async (daemon: Daemon, n: number): Promise<void> => {
  await eventually(`the loop runs, start ${n}`, () => noted(daemon, 'loop-starts').length === n);
  writeFileSync(join(daemon.directory, `end-${n}`), '');
  if (n === 1) return;
  await eventually('the agent shows the wait', async () => {
    const { waiting } = (await statusOf(daemon, 'loop'))?.state ?? {};
    return waiting?.reason === 'CrashLoopBackOff';
  });
};

const podOf = async (daemon: Daemon, name: string) =>
  (await daemon.shownPods()).find(({ metadata }) => metadata.name === `${name}-${NODE_NAME}`);
const statusOf = async (daemon: Daemon, name: string) => (await podOf(daemon, name))?.status?.containerStatuses?.[0];
const phaseIs = (daemon: Daemon, name: string, phase: string): Promise<true> =>
  eventually(`${name} is ${phase}`, async () => (await podOf(daemon, name))?.status?.phase === phase);

/** Resolves when more probes have run than now. */
const moreProbes = async (daemon: Daemon, name: string): Promise<void> => {
  const before = noted(daemon, `probes-${name}`).length;
  await eventually(`${name} is probed again`, () => noted(daemon, `probes-${name}`).length > before + 1);
};

/** Ends the watch, which has seen nothing forbidden; each container, by its pod, is the only one of the pod and has started once. */
const expectUntouched = async (daemon: Daemon, watch: Watch, ids: Readonly<Record<string, string>>): Promise<void> => {
  await watch.stop();
  expect(watch.violations).toEqual([]);
  for (const [name, id] of Object.entries(ids)) {
    expect((await daemon.containersOf(name)).map((one) => [name, one.id, one.attempt])).toEqual([[name, id, 0]]);
    expect([name, daemon.lines(`starts-${name}`).length]).toEqual([name, 1]);
  }
};

/** What the commands of the agent say of the pod. */
const said = async (daemon: Daemon, command: 'why' | 'pods', ...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await daemon.run(command, ...args, '--root-dir', daemon.rootDir);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
};

/** No age is in the future, and nothing is awaited for longer than a minute or two. */
const expectPlausible = async (daemon: Daemon, pods: readonly string[]): Promise<void> => {
  expect(await said(daemon, 'pods')).not.toMatch(/-\d/);
  for (const pod of pods) {
    const why = await said(daemon, 'why', pod);
    expect(why).not.toMatch(/-\d+ (s|min|h|d)\b/);
    expect(why.split('\n').find((line) => line.startsWith('next:'))).not.toMatch(/ \d+ (h|d)\b/);
  }
};

describe.runIf(canFakeTime)('a clock that is wrong', { concurrent: true }, () => {
  it(
    'ten years behind at the boot, then set: no container ends, and what comes next has true times',
    async ({ daemon }) => {
      const clock = fakeClock(daemon, 'clock', -TEN_YEARS);
      daemon.apply(probed('steady', 0));
      daemon.apply(onceRan);
      await daemon.start();
      const { id: steady } = await daemon.reached('steady', 'CONTAINER_RUNNING');
      const { id: once } = await daemon.reached('once', 'CONTAINER_EXITED');
      await phaseIs(daemon, 'once', 'Succeeded');
      await moreProbes(daemon, 'steady');
      expect(Date.parse((await podOf(daemon, 'steady'))?.status?.startTime ?? '')).toBeLessThan(
        Date.now() - TEN_YEARS * 500,
      );
      await expectPlausible(daemon, ['steady', 'once']);
      const watch = watchRuntime(daemon);

      clock.set(0);
      await moreProbes(daemon, 'steady');
      const appliedAt = Date.now();
      daemon.apply(probed('fresh', WAIT_SECONDS));
      const fresh = await daemon.reached('fresh', 'CONTAINER_RUNNING');
      await moreProbes(daemon, 'fresh');
      expect(Number(fresh.startedAt / 1_000_000n)).toBeGreaterThanOrEqual(appliedAt);
      expect((noted(daemon, 'probes-fresh')[0] ?? 0) - appliedAt).toBeGreaterThanOrEqual(WAIT_SECONDS * 1000);
      const row = (await said(daemon, 'pods')).split('\n').find((line) => line.includes('fresh'));
      expect(row).toMatch(/ Running +0 +\d+(s|m|m\d+s)$/);
      expect(await said(daemon, 'why', 'fresh')).toMatch(/is Running for \d+ (s|min)/);
      await expectPlausible(daemon, ['steady', 'once', 'fresh']);

      // The agent, too, begins again with the stamps of both times.
      await daemon.kill('SIGKILL');
      await daemon.start();
      await moreProbes(daemon, 'steady');
      await moreProbes(daemon, 'fresh');
      await phaseIs(daemon, 'once', 'Succeeded');
      await expectUntouched(daemon, watch, { steady, once, fresh: fresh.id });
    },
    SLOW_MACHINE_MS,
  );

  it(
    'an hour ahead, then an hour behind: waits take the time that they would have taken',
    async ({ daemon }) => {
      const clock = fakeClock(daemon, 'clock', 0);
      daemon.apply(onceRan);
      daemon.apply(loopingPod());
      daemon.apply(probed('slow', DEADLINE_SECONDS));
      const { containers: limited = [] } = alone(
        'limited',
        `trap '${note('limited-ends')}; exit 0' TERM; while :; do sleep 0.1; done`,
      );
      // The start of a pod has whole seconds.
      const appliedAt = Math.floor(Date.now() / 1000) * 1000;
      daemon.apply({ name: 'limited', containers: limited, activeDeadlineSeconds: DEADLINE_SECONDS });
      await daemon.start('--config', daemon.configuration(CONFIGURATION));
      const { id: once } = await daemon.reached('once', 'CONTAINER_EXITED');
      const { id: slow } = await daemon.reached('slow', 'CONTAINER_RUNNING');
      const { id: limitedId } = await daemon.reached('limited', 'CONTAINER_RUNNING');
      const watch = watchRuntime(daemon);
      await endLoop(daemon, 1);

      // Each instance of the loop ends at the true time, by which the kernel stamps its end; the clock is set while it waits.
      let n = 2;
      for (const offset of [HOUR, -HOUR]) {
        await endLoop(daemon, n);
        clock.set(offset);
        await expectPlausible(daemon, ['loop', 'slow', 'limited', 'once']);
        n += 1;
        await eventually(`the loop runs, start ${n}`, () => noted(daemon, 'loop-starts').length === n);
        clock.set(0);
      }
      const [starts, ends] = [noted(daemon, 'loop-starts'), noted(daemon, 'loop-ends')];
      for (const waited of [2, 3].map((index) => (starts[index] ?? 0) - (ends[index - 1] ?? Infinity)))
        expect(waited).toBeGreaterThanOrEqual(WAIT_SECONDS * 1000);

      const [limitedEnd = 0] = await eventually('limited ends', () => {
        const seen = noted(daemon, 'limited-ends');
        return seen.length > 0 && seen;
      });
      expect(limitedEnd - appliedAt).toBeGreaterThanOrEqual(DEADLINE_SECONDS * 1000);
      await eventually(
        'the agent says why',
        async () => (await podOf(daemon, 'limited'))?.status?.reason === 'DeadlineExceeded',
      );
      await moreProbes(daemon, 'slow');
      expect((noted(daemon, 'probes-slow')[0] ?? 0) - appliedAt).toBeGreaterThanOrEqual(DEADLINE_SECONDS * 1000);
      await expectUntouched(daemon, watch, { once, slow, limited: limitedId });
    },
    SLOW_MACHINE_MS,
  );

  it.for([7, -7])(
    'of an agent that was killed, %i min from that of its runtime: no container ends or starts again',
    { timeout: SLOW_MACHINE_MS },
    async (minutes, { daemon }) => {
      fakeClock(daemon, 'clock', 0);
      daemon.apply(onceRan);
      daemon.apply(probed('steady', 0));
      daemon.apply(loopingPod());
      const configuration = daemon.configuration(CONFIGURATION);
      await daemon.start('--config', configuration);
      const { id: once } = await daemon.reached('once', 'CONTAINER_EXITED');
      const { id: steady } = await daemon.reached('steady', 'CONTAINER_RUNNING');
      await endLoop(daemon, 1);
      await endLoop(daemon, 2);
      const watch = watchRuntime(daemon);
      const runtime = daemon.runtimeProcess();

      await daemon.kill('SIGKILL');
      fakeClock(daemon, 'clock-of-agent', minutes * 60);
      await daemon.start('--config', configuration);
      await moreProbes(daemon, 'steady');
      await expectPlausible(daemon, ['once', 'steady', 'loop']);
      await eventually('the loop runs again', () => noted(daemon, 'loop-starts').length === 3);
      await endLoop(daemon, 3);
      await eventually('the loop runs once more', () => noted(daemon, 'loop-starts').length === 4);
      const [ends, starts] = [noted(daemon, 'loop-ends'), noted(daemon, 'loop-starts')];
      expect((starts[3] ?? 0) - (ends[2] ?? Infinity)).toBeGreaterThanOrEqual(WAIT_SECONDS * 1000);
      expect(daemon.runtimeProcess()).toEqual(runtime);
      await expectUntouched(daemon, watch, { once, steady });
    },
  );
});
