import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type BusStage, busStage, lackingForBus } from '../edges/host/logind/bus-stage.js';
import { ContainerState } from '../../src/generated/runtime/v1/api.js';
import { type Daemon, it } from './daemon.js';
import { eventually } from './eventually.js';

const SLOW_MACHINE_MS = 120_000;
const LOCK = 'lock shutdown|kubelet|Kubelet needs time to handle node shutdown|delay';
/** In the order in which the manifests are sorted, which is not that of the priorities. */
const PRIORITIES = { critical: 2_000_000_000, low: 0, middle: 1_000 };
const SHUTDOWN = {
  shutdownGracePeriodByPodPriority: [
    { priority: 0, shutdownGracePeriodSeconds: 20 },
    { priority: 1_000, shutdownGracePeriodSeconds: 2 },
    { priority: 2_000_000_000, shutdownGracePeriodSeconds: 20 },
  ],
};

/** Three pods that write down their ends; the one in the middle ignores its signal. */
const applyPods = (daemon: Daemon): void => {
  const file = join(daemon.directory, 'ends');
  for (const [name, priority] of Object.entries(PRIORITIES)) {
    const atTerm = name === 'middle' ? `echo ${name} >> ${file}` : `sleep 0.3; echo ${name} >> ${file}; exit 0`;
    const script = `trap '${atTerm}' TERM; while :; do sleep 0.05; done`;
    daemon.apply({ name, priority, terminationGracePeriodSeconds: 60, containers: [{ script }] });
  }
};
const ends = (daemon: Daemon): readonly string[] => {
  const file = join(daemon.directory, 'ends');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
};
const allRun = (daemon: Daemon, attempt: number) =>
  Promise.all(Object.keys(PRIORITIES).map((name) => daemon.reached(name, 'CONTAINER_RUNNING', { attempt })));
const running = async (daemon: Daemon): Promise<readonly string[]> =>
  (await daemon.containers()).filter(({ state }) => state === ContainerState.CONTAINER_RUNNING).map(({ pod }) => pod);

/** An agent whose system bus is that of the test. Its logind waits for long, so that no setting of this machine is written. */
const onBus = async (daemon: Daemon, play: (bus: BusStage) => Promise<void>): Promise<void> => {
  const bus = await busStage();
  try {
    bus.command('delay 600000000');
    daemon.preload = { args: [], env: { DBUS_SYSTEM_BUS_ADDRESS: bus.env.DBUS_SYSTEM_BUS_ADDRESS } };
    await play(bus);
  } finally {
    await daemon.kill('SIGKILL');
    await bus.end();
  }
};

describe.skipIf(lackingForBus.length > 0)('before the machine shuts down', () => {
  it(
    'the agent stops the pods in the order of their priorities, lets the machine go, and starts them again after its own next start',
    ({ daemon }) =>
      onBus(daemon, async (bus) => {
        applyPods(daemon);
        await daemon.start('--config', daemon.configuration(SHUTDOWN));
        await allRun(daemon, 0);
        await bus.prints(LOCK);
        bus.command('signal 1');
        await bus.prints('released');
        expect(await running(daemon)).toEqual([]);
        expect(ends(daemon)).toEqual(['low', 'middle', 'critical']);
        const reasons = (await daemon.shownPods()).map(({ status }) => [status?.phase, status?.reason]);
        expect(reasons).toEqual(Array.from({ length: 3 }, () => ['Failed', 'Terminated']));
        const state = join(daemon.rootDir, 'graceful_node_shutdown_state');
        expect(readFileSync(state, 'utf8')).not.toContain('0001-01-01');

        await daemon.kill('SIGKILL');
        await daemon.start('--config', daemon.configuration(SHUTDOWN));
        await allRun(daemon, 1);
        const waits = daemon.journal().filter((entry) => entry.kind === 'back-off' && entry.subject === 'restart');
        expect(waits).toEqual([]);
      }),
    SLOW_MACHINE_MS,
  );

  it(
    'the agent stops the pods in the same order at its own end, and has no lock then',
    ({ daemon }) =>
      onBus(daemon, async (bus) => {
        applyPods(daemon);
        await daemon.start('--stop-pods-on-exit', '--config', daemon.configuration(SHUTDOWN));
        await allRun(daemon, 0);
        await bus.prints(LOCK);
        expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
        expect(ends(daemon)).toEqual(['low', 'middle', 'critical']);
        await bus.prints('released');
        const left = () => bus.programs().filter(({ command }) => /busctl|systemd-inhibit/.test(command));
        await eventually('no program of the agent is left', () => left().length === 0);
      }),
    SLOW_MACHINE_MS,
  );
});
