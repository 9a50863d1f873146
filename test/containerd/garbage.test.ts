import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { runningVersions } from '../embedded/churn.js';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { readTextOf } from '../embedded/processes.js';
import { type Dice, dice, pause, SEED } from '../embedded/seeded.js';
import { watchRuntime } from '../embedded/watch.js';
import { BUSYBOX, type ContainerdNode, it, WAIT } from './containerd-node.js';
import { superfluousSandboxes, violationsOfAgent } from './leftovers.js';
import { overContainerd } from './missing.js';

// These tests take minutes, since garbage is collected once a minute.

const KILLS_OF_THE_AGENT = 20;
/** After how many kills of the agent the runtime is killed, too. */
const RUNTIME_TOO = 4;
const SLOW_MACHINE_MS = 480_000;
/** Garbage is collected every minute. */
const COLLECTED_MS = 180_000;

/** Pods that come, change and go; what is wanted is known at every moment. */
const churn = (node: ContainerdNode, names: readonly string[], { between, oneOf }: Dice) => {
  const wanted = new Map<string, string>();
  let version = 0;
  const put = (name: string): void => {
    version += 1;
    const containers = [{ script: oneOf([WAIT, "trap 'sleep 0.3; exit 0' TERM; while :; do sleep 0.05; done"]) }];
    node.apply({ name, labels: { version: `v${version}` }, terminationGracePeriodSeconds: 1, containers });
    wanted.set(`${name}-${NODE_NAME}`, `v${version}`);
  };
  for (const name of names) put(name);
  return {
    wanted,
    step: (): void => {
      const name = oneOf(names);
      if (wanted.has(`${name}-${NODE_NAME}`) && between(1, 3) === 1) {
        node.delete(`${name}.yaml`);
        wanted.delete(`${name}-${NODE_NAME}`);
      } else put(name);
    },
  };
};

overContainerd(
  'kill -9 of the agent and of the runtime',
  () => {
    it(
      `ends in what the manifests say, and restarts nothing healthy (SEED=${SEED})`,
      { timeout: SLOW_MACHINE_MS },
      async ({ node }) => {
        const draw = dice(SEED);
        const untouched = ['steady-0', 'steady-1'];
        for (const name of untouched) node.apply({ name, containers: [{ image: BUSYBOX }, { name: 'second' }] });
        const names = ['c0', 'c1', 'c2'];
        const changing = churn(node, names, draw);
        await node.start();
        const healthy = async () =>
          Promise.all(
            untouched.flatMap((pod) =>
              ['main', 'second'].map(async (name) => {
                const { id, startedAt } = await node.reached(pod, 'CONTAINER_RUNNING', { name });
                const pid = await node.pidOf(id);
                return { id, startedAt, pid, cgroup: readFileSync(`/proc/${pid}/cgroup`, 'utf8') };
              }),
            ),
          );
        const before = await healthy();
        const watch = watchRuntime(node);

        for (let kill = 1; kill <= KILLS_OF_THE_AGENT; kill += 1) {
          for (let steps = draw.between(0, 2); steps > 0; steps -= 1) changing.step();
          await pause(draw.between(0, 400));
          if (kill % RUNTIME_TOO === 0) {
            // In the middle of what the agent has asked for; now and then the agent sees it come back, or neither is there.
            await node.killRuntime('SIGKILL');
            if (draw.between(1, 2) === 1) await node.startRuntime();
          }
          await node.kill('SIGKILL');
          if (draw.between(1, 2) === 1) changing.step();
          node.spawn('--pod-manifest-path', node.manifests);
          await node.startRuntime();
          await pause(draw.between(200, 1_200));
        }
        await node.kill('SIGKILL');
        await node.start();
        await eventually(
          'what runs is what the manifests say',
          async () => {
            const running = await runningVersions(node);
            expect(Object.fromEntries(running)).toEqual(Object.fromEntries(changing.wanted));
            return true;
          },
          SLOW_MACHINE_MS / 2,
        );
        expect(await healthy()).toEqual(before);
        for (const pod of untouched) expect(await node.containersOf(pod)).toHaveLength(2);

        await eventually(
          'the garbage is collected',
          async () => {
            const [sandboxes, containers] = [await node.sandboxes(), await node.containers()];
            const ready = sandboxes.filter(({ state }) => state === 'SANDBOX_READY');
            const wanted = [...changing.wanted.keys(), ...untouched.map((name) => `${name}-${NODE_NAME}`)].toSorted();
            expect(superfluousSandboxes(sandboxes, containers)).toEqual([]);
            expect(ready.map(({ pod }) => pod).toSorted()).toEqual(wanted);
            const ids = sandboxes.map(({ id }) => id);
            expect(containers.filter(({ sandboxId }) => !ids.includes(sandboxId))).toEqual([]);
            // One former instance of each container is kept, such as one that a killed agent had created and not started.
            const keysOf = (isRunning: boolean) =>
              containers
                .filter(({ state }) => (state === 'CONTAINER_RUNNING') === isRunning)
                .map(({ uid, name }) => `${uid}/${name}`);
            expect(keysOf(true)).toHaveLength(wanted.length + untouched.length);
            for (const keys of [keysOf(true), keysOf(false)]) expect(new Set(keys).size).toBe(keys.length);
            expect(keysOf(false).filter((key) => !keysOf(true).includes(key))).toEqual([]);
            return true;
          },
          COLLECTED_MS,
        );
        await watch.stop();
        expect(violationsOfAgent(node, watch)).toEqual([]);
        expect(watch.looks()).toBeGreaterThan(KILLS_OF_THE_AGENT);
        // Every process of a container belongs to one that is wanted. (Shims and addresses are not counted: what containerd was
        // about to make when it was killed it forgets itself, and does not list.)
        const running = (await node.containers()).map(({ id }) => id);
        const pods = [...untouched, ...names].flatMap((pod) => ['main', 'second'].map((name) => ({ pod, name })));
        const cgroups = pods
          .flatMap(({ pod, name }) => node.processesOf(pod, name))
          .map(({ pid }) => readTextOf(pid, 'cgroup'))
          // A process that has ended since it was listed has none.
          .filter((cgroup) => cgroup !== '');
        expect(cgroups.length).toBeGreaterThanOrEqual(running.length);
        expect(cgroups.filter((cgroup) => !running.some((id) => cgroup.includes(id)))).toEqual([]);
        expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      },
    );
  },
  { alone: true },
);

overContainerd(
  'a manifest',
  () => {
    it(
      'that is edited replaces its pod, and one that is deleted takes everything along',
      { timeout: SLOW_MACHINE_MS },
      async ({ node }) => {
        node.apply({ name: 'steady' });
        node.apply({ name: 'web', labels: { version: 'v1' } });
        await node.start();
        const steady = await node.reached('steady', 'CONTAINER_RUNNING');
        const former = await node.reached('web', 'CONTAINER_RUNNING');
        node.apply({ name: 'web', labels: { version: 'v2' } });
        const next = await eventually('the edited pod runs', async () => {
          const [newest] = await node.containersOf('web');
          return newest?.id !== former.id && newest?.state === 'CONTAINER_RUNNING' && node.status(newest.id);
        });
        // It may be collected already; while it is there it has ended before the next one started.
        const ended = await node.status(former.id).catch(() => undefined);
        expect(ended?.state ?? 'CONTAINER_EXITED').toBe('CONTAINER_EXITED');
        if (ended) expect(next.startedAt).toBeGreaterThanOrEqual(ended.finishedAt);
        const ready = (await node.sandboxes()).filter(
          ({ state, pod }) => state === 'SANDBOX_READY' && pod.startsWith('web'),
        );
        expect(ready.map(({ labels }) => labels.version)).toEqual(['v2']);

        node.delete('web.yaml');
        await eventually(
          'nothing of it is left, logs included',
          async () => {
            expect(await node.tracesOf('web')).toEqual([]);
            return true;
          },
          COLLECTED_MS,
        );
        expect(existsSync(next.logPath)).toBe(false);
        expect(await node.tracesOf('steady')).toHaveLength(3);
        expect([node.networks().length, node.addresses().length, node.shims().length]).toEqual([1, 1, 1]);
        expect(await node.reached('steady', 'CONTAINER_RUNNING')).toMatchObject({ id: steady.id });
      },
    );
  },
  { alone: true },
);
