import { join } from 'node:path';
import { describe, expect, it as baseIt } from 'vitest';
import type { ContainerEventResponse } from '../../src/generated/runtime/v1/api.js';
import { sendSignal } from '../../src/runtime/embedded/confinement/process-tree.js';
import { CriProxy } from '../support/cri-proxy.js';
import { Daemon, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { type Dice, dice, pause, SEED } from './seeded.js';
import { QUICK_RESTARTS } from './quick-restarts.js';
import { watchRuntime } from './watch.js';

const RACES = 500;
const PODS = 16;
/** The number of cuts of the stream during all of them. */
const CUTS = 10;
/** Races go on until enough has happened, on a machine on which little happens meanwhile. */
const RACED_MS = 300_000;
const CONVERGED_MS = 120_000;
const SLOW_MACHINE_MS = 720_000;

const CONFIGURATION = {
  ...QUICK_RESTARTS,
  featureGates: { ...QUICK_RESTARTS.featureGates, EventedPLEG: true },
  ...{ cgroupsPerQOS: false, enforceNodeAllocatable: [] },
};

/** An agent over the embedded runtime, as over any other: the runtime is a process of the test's own, with a proxy before it. */
class DaemonOverCri extends Daemon {
  protected override isRuntimeReady(): boolean {
    return true;
  }

  /** Resolves when the runtime answers through the proxy. */
  async startProxied(): Promise<CriProxy> {
    // It lives until the daemon is disposed of.
    void this.run('runtime', '--root-dir', this.rootDir);
    await eventually('the runtime answers', () => this.sandboxes());
    const proxy = await CriProxy.start(this.runtimeSocket, join(this.directory, 'proxy.sock'));
    this.beforeDispose(() => proxy.close());
    return proxy;
  }
}

const it = baseIt.extend<{ readonly daemon: DaemonOverCri }>({
  daemon: async ({}, use) => {
    const daemon = new DaemonOverCri();
    try {
      await use(daemon);
    } finally {
      await daemon.dispose();
    }
  },
});

/** Drops events, doubles them, holds them until others have overtaken them; what became of how many is counted. */
const disorder = ({ between }: Dice) => {
  const counts = { passed: 0, dropped: 0, doubled: 0, held: 0, turned: 0 };
  let held: ContainerEventResponse[] = [];
  const change = (event: ContainerEventResponse): readonly ContainerEventResponse[] => {
    const chance = between(1, 12);
    if (chance === 1) {
      counts.dropped += 1;
      return [];
    }
    if (chance <= 3) {
      counts.doubled += 1;
      return [event, event];
    }
    if (chance <= 6) {
      counts.held += 1;
      held.push(event);
      return [];
    }
    if (chance <= 9) {
      // What was held comes after it, newest first, and perhaps once more later.
      const late = held.toReversed();
      held = late.slice(0, between(0, 1));
      counts.turned += late.length;
      return [event, ...late];
    }
    counts.passed += 1;
    return [event];
  };
  return { change, counts };
};

/** Says so when another instance of the container is alive, of any revision of its pod: the lock goes with its process. */
const ALONE =
  'echo "$NAME $VERSION" >>"$DIR/starts"; exec 9>>"$DIR/lock-$NAME"; flock -n 9 || echo "$NAME $VERSION" >>"$DIR/doubles"';
const ENDINGS = ['exec sleep 2147483', "trap 'sleep 0.1; exit 0' TERM; while :; do sleep 0.05; done"];

/** Pods of which it is known what is wanted, and what happens to them: their process dies, they change, they go, they come. */
const races = (daemon: Daemon, names: readonly string[], { between, oneOf }: Dice) => {
  const wanted = new Map<string, string>();
  let version = 0;
  const put = (name: string): void => {
    version += 1;
    const env = [
      { name: 'NAME', value: name },
      { name: 'VERSION', value: `v${version}` },
    ];
    daemon.apply({
      ...{ name, labels: { version: `v${version}` }, terminationGracePeriodSeconds: 1 },
      containers: [{ env, script: `${ALONE}; ${oneOf(ENDINGS)}` }],
    });
    wanted.set(name, `v${version}`);
  };
  const remove = (name: string): void => {
    daemon.withdraw(name);
    wanted.delete(name);
  };
  const kill = (name: string): boolean => {
    const processes = daemon.processesOf(name);
    for (const { pid } of processes) sendSignal(pid, 'SIGKILL');
    return processes.length > 0;
  };
  for (const name of names) put(name);
  /** One of them, or two at the same time, in either order; whether anything has happened. */
  const race = (): boolean => {
    const name = oneOf(names);
    const chance = wanted.has(name) ? between(1, 8) : 1;
    if (chance >= 5) return kill(name);
    if (chance === 2) remove(name);
    if (chance === 3) kill(name);
    if (chance !== 2 || between(0, 1) === 0) put(name);
    if (chance === 4) kill(name);
    return true;
  };
  return { wanted, race };
};

/** The versions of the containers that run, by the names of their pods. */
const running = async (daemon: Daemon): Promise<Record<string, string>> => {
  const sandboxes = new Map((await daemon.sandboxes()).map((one) => [one.id, one]));
  const found = new Map<string, string[]>();
  for (const { pod, state, sandboxId } of await daemon.containers()) {
    if (state !== 'CONTAINER_RUNNING') continue;
    const version = sandboxes.get(sandboxId)?.labels.version ?? 'of no sandbox';
    found.set(pod, [...(found.get(pod) ?? []), version]);
  }
  return Object.fromEntries(
    [...found].map(([pod, versions]) => [pod.replace(`-${NODE_NAME}`, ''), versions.join(' ')]),
  );
};

describe('races with events that are lost, doubled, late and out of order', () => {
  it(
    `never run a container twice, and come to a right end (SEED=${SEED})`,
    async ({ daemon }) => {
      const draw = dice(SEED);
      const proxy = await daemon.startProxied();
      const { change, counts } = disorder(dice(SEED + 1));
      const names = Array.from({ length: PODS }, (_, index) => `p${index}`);
      const { wanted, race } = races(daemon, names, draw);
      await daemon.start(
        ...['--container-runtime-endpoint', proxy.endpoint],
        ...['--config', daemon.configuration(CONFIGURATION)],
      );
      for (const name of names) await daemon.reached(name, 'CONTAINER_RUNNING');
      const watch = watchRuntime(daemon);
      proxy.onEvent(change);
      const hasHappened = (): boolean =>
        Object.values(counts).every((count) => count > RACES / 50) &&
        daemon.lines('starts').length > RACES / 5 &&
        watch.looks() > RACES / 5;
      const end = performance.now() + RACED_MS;
      for (let count = 0; count < RACES || (!hasHappened() && performance.now() < end);) {
        if (race()) {
          count += 1;
          if (count % (RACES / CUTS) === 0) proxy.cut();
        }
        await pause(draw.between(0, 60));
      }
      // What was lost shows when the stream breaks the next time.
      proxy.onEvent((event) => [event]);
      proxy.cut();
      await eventually(
        'what runs is what the manifests say',
        async () => {
          expect(await running(daemon)).toEqual(Object.fromEntries(wanted));
          return true;
        },
        CONVERGED_MS,
      );
      await watch.stop();
      expect(watch.violations).toEqual([]);
      expect(daemon.lines('doubles')).toEqual([]);
      for (const [what, count] of Object.entries(counts)) expect([what, count > RACES / 50]).toEqual([what, true]);
      expect(daemon.lines('starts').length).toBeGreaterThan(RACES / 5);

      expect(watch.looks()).toBeGreaterThan(RACES / 5);
      expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
    SLOW_MACHINE_MS,
  );
});
