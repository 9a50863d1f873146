import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import type { PodOf } from '../embedded/manifests.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import type { ListedSandbox } from '../embedded/runtime-view.js';
import { type Dice, dice, pause, SEED } from '../embedded/seeded.js';
import { watchRuntime } from '../embedded/watch.js';
import { type ContainerdNode, it, WAIT } from './containerd-node.js';
import { leftovers, stuckSandboxes, superfluousSandboxes, violationsOfAgent } from './leftovers.js';
import { overContainerd } from './missing.js';

/** `KILLS=100` takes four minutes. */
const KILLS_OF_THE_AGENT = Number(process.env.KILLS ?? 40);
const KILLS_OF_THE_RUNTIME = Math.ceil(KILLS_OF_THE_AGENT / 5);
/** The last ones; before, the runtime lives through everything. */
const KILLS_WITH_THE_RUNTIME = Math.ceil((KILLS_OF_THE_AGENT * 3) / 10);
const SLOW_MACHINE_MS = 1_200_000;
const CALM_MS = 240_000;
/** Garbage is collected every minute; a call of the runtime takes many seconds on a busy machine. */
const COLLECTED_MS = 480_000;

type Shape = Pick<PodOf, 'containers' | 'initContainers'>;
interface Kind {
  readonly shape: Shape;
  /** Containers that run once the pod is up; a container that keeps failing may or may not. */
  readonly running: readonly string[];
}
const KINDS: Readonly<Record<string, Kind>> = {
  plain: { shape: {}, running: ['main'] },
  'two containers': { shape: { containers: [{}, { name: 'second' }] }, running: ['main', 'second'] },
  'slow to stop': {
    shape: { containers: [{ script: WAIT.replace('exit 0', 'sleep 0.3; exit 0') }] },
    running: ['main'],
  },
  'with init containers': {
    shape: {
      initContainers: [
        { name: 'first', script: 'sleep 0.2' },
        { name: 'next', script: 'true' },
      ],
    },
    running: ['main'],
  },
  'with a sidecar': {
    shape: { initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }] },
    running: ['main', 'sidecar'],
  },
  failing: { shape: { containers: [{ script: 'sleep 0.3; exit 3' }] }, running: [] },
};

interface Wanted {
  readonly version: string;
  readonly kind: string;
}

/** Pods that come, change and go until it is stopped; what is wanted is known at every moment. */
const churn = (node: ContainerdNode, names: readonly string[], { between, oneOf }: Dice) => {
  const wanted = new Map<string, Wanted>();
  let version = 0;
  let isGoingOn = true;
  let isResting = false;
  const put = (name: string): void => {
    version += 1;
    const kind = oneOf(Object.keys(KINDS));
    const labels = { version: `v${version}` };
    node.apply({ name, labels, terminationGracePeriodSeconds: 1, ...KINDS[kind]?.shape });
    wanted.set(`${name}-${NODE_NAME}`, { version: labels.version, kind });
  };
  for (const name of names) if (between(1, 2) === 1) put(name);
  const step = (): void => {
    const name = oneOf(names);
    if (wanted.has(`${name}-${NODE_NAME}`) && between(1, 2) === 1) {
      node.delete(`${name}.yaml`);
      wanted.delete(`${name}-${NODE_NAME}`);
    } else put(name);
  };
  const going = (async () => {
    while (isGoingOn) {
      if (!isResting) step();
      await pause(between(100, 1_500));
    }
  })();
  const stop = (): Promise<void> => {
    isGoingOn = false;
    return going;
  };
  node.beforeDispose(stop);
  const rest = (rests: boolean): void => void (isResting = rests);
  return { wanted, stop, rest };
};

/** Each pod's ready sandboxes and running containers, as `version: container container`. */
const whatRuns = async (node: ContainerdNode): Promise<ReadonlyMap<string, string>> => {
  const [containers, sandboxes] = [await node.containers(), await node.sandboxes()];
  const found = new Map<string, string>();
  for (const { id, pod, labels } of sandboxes.filter(({ state }) => state === 'SANDBOX_READY')) {
    const running = containers.filter(({ sandboxId, state }) => sandboxId === id && state === 'CONTAINER_RUNNING');
    const text = `${labels.version}: ${running
      .map(({ name }) => name)
      .toSorted()
      .join(' ')}`;
    const other = found.get(pod);
    found.set(pod, other === undefined ? text : `${other} and ${text}`);
  }
  return found;
};

/** The last lines of the agent about a sandbox. */
const logOf = (node: ContainerdNode, id: string): readonly string[] =>
  node.log
    .split('\n')
    .filter((line) => line.includes(id))
    .slice(-5);

overContainerd(
  `${KILLS_OF_THE_AGENT} kills`,
  () => {
    it(
      `of the agent, some with its runtime, end in what the manifests say, and leave nothing (SEED=${SEED})`,
      { timeout: SLOW_MACHINE_MS },
      async ({ node }) => {
        const steady: readonly (readonly [name: string, kind: string])[] = [
          ['steady-plain', 'plain'],
          ['steady-two', 'two containers'],
          ['steady-init', 'with init containers'],
          ['steady-sidecar', 'with a sidecar'],
        ];
        for (const [name, kind] of steady) node.apply({ name, labels: { version: 'v0' }, ...KINDS[kind]?.shape });
        const flags = ['--config', node.configuration(QUICK_RESTARTS)];
        await node.start(...flags);
        const untouched = () =>
          Promise.all(
            steady.flatMap(([pod, kind]) =>
              (KINDS[kind]?.running ?? []).map(async (name) => {
                const { id, startedAt } = await node.reached(pod, 'CONTAINER_RUNNING', { name });
                const pid = await node.pidOf(id);
                return { pod, name, id, startedAt, pid, cgroup: readFileSync(`/proc/${pid}/cgroup`, 'utf8') };
              }),
            ),
          );
        const before = await untouched();
        const watch = watchRuntime(node);
        const changing = churn(
          node,
          Array.from({ length: 30 }, (_, index) => `churn-${index}`),
          dice(SEED + 1),
        );

        const { between, oneOf } = dice(SEED);
        const live = async (): Promise<void> => {
          const seen = node.log.length;
          node.spawn('--pod-manifest-path', node.manifests, ...flags);
          // Most are killed while they work, some while they start.
          if (between(1, 4) > 1)
            await eventually('it works', () => node.log.slice(seen).includes('are served'), CALM_MS);
          await pause(oneOf([between(0, 200), between(200, 1_200)]));
        };
        const runtimeKills = new Set<number>();
        while (runtimeKills.size < KILLS_OF_THE_RUNTIME) {
          runtimeKills.add(between(KILLS_OF_THE_AGENT - KILLS_WITH_THE_RUNTIME + 1, KILLS_OF_THE_AGENT));
        }
        for (let kill = 1; kill <= KILLS_OF_THE_AGENT; kill += 1) {
          if (kill === KILLS_OF_THE_AGENT - KILLS_WITH_THE_RUNTIME + 1) {
            changing.rest(true);
            await eventually(
              'nothing is left of sandboxes that are not ready, while the runtime was never away',
              async () => {
                expect((await leftovers(node)).known).toEqual([]);
                return true;
              },
              CALM_MS,
            );
            changing.rest(false);
          }
          const withRuntime = runtimeKills.has(kill);
          if (withRuntime && between(1, 3) === 1) {
            // First the one, then the other, or both at once.
            await node.killRuntime('SIGKILL');
            if (between(1, 2) === 1) await node.startRuntime();
            await node.kill('SIGKILL');
          } else {
            await Promise.all([node.kill('SIGKILL'), withRuntime ? node.killRuntime('SIGKILL') : undefined]);
          }
          // The agent may be the first to be there again.
          await Promise.all([live(), withRuntime ? node.startRuntime() : undefined]);
        }
        await changing.stop();
        await node.kill('SIGKILL');
        await node.start(...flags);

        await eventually(
          'what runs is what the manifests say',
          async () => {
            const running = await whatRuns(node);
            const wanted = [...changing.wanted].map(([pod, { version, kind }]) => [
              pod,
              `${version}: ${kind === 'failing' ? (running.get(pod)?.split(': ')[1] ?? '') : KINDS[kind]?.running.join(' ')}`,
            ]);
            const kept = steady.map(([pod, kind]) => [`${pod}-${NODE_NAME}`, `v0: ${KINDS[kind]?.running.join(' ')}`]);
            expect(Object.fromEntries(running)).toEqual(Object.fromEntries([...wanted, ...kept] as [string, string][]));
            return true;
          },
          CALM_MS,
        );
        // Nothing healthy was touched: the same containers, and the same processes in them.
        expect(await untouched()).toEqual(before);
        const inits = await node.containersOf('steady-init');
        expect(inits.map(({ name, attempt }) => `${name} ${attempt}`).toSorted()).toEqual([
          'first 0',
          'main 0',
          'next 0',
        ]);

        let kept: readonly object[] = [];
        await eventually(
          'the garbage is collected',
          async () => {
            const stuck = await stuckSandboxes(node);
            const [left, listed] = [await node.sandboxes(), await node.containers()];
            const sandboxes = left.filter(({ id }) => !stuck.has(id));
            const containers = listed.filter(({ sandboxId }) => !stuck.has(sandboxId));
            const wanted = [...changing.wanted.keys(), ...steady.map(([name]) => `${name}-${NODE_NAME}`)].toSorted();
            const ready = sandboxes.filter(({ state }) => state === 'SANDBOX_READY');
            expect(ready.map(({ pod }) => pod).toSorted()).toEqual(wanted);
            const withLogs = (some: readonly ListedSandbox[]) =>
              some.map((one) => ({ ...one, log: logOf(node, one.id) }));
            expect(withLogs(superfluousSandboxes(sandboxes, containers))).toEqual([]);
            kept = withLogs(sandboxes.filter((one) => !ready.includes(one)));
            const ids = new Set(sandboxes.map(({ id }) => id));
            expect(containers.filter(({ sandboxId }) => !ids.has(sandboxId))).toEqual([]);
            // Of each container at most one that runs and one former one that has run; none that never started.
            expect(containers.filter(({ state }) => !/RUNNING|EXITED/.test(state))).toEqual([]);
            for (const state of ['CONTAINER_RUNNING', 'CONTAINER_EXITED']) {
              const keys = containers.filter((one) => one.state === state).map(({ uid, name }) => `${uid}/${name}`);
              expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
            }
            const stuckUids = left.filter(({ id }) => stuck.has(id)).map(({ uid }) => uid);
            const folders = existsSync(node.logs) ? readdirSync(node.logs) : [];
            expect(folders.filter((folder) => !stuckUids.some((uid) => folder.endsWith(uid))).toSorted()).toEqual(
              ready.map(({ pod, uid }) => `default_${pod}_${uid}`).toSorted(),
            );
            expect((await leftovers(node)).known).toEqual([]);
            return true;
          },
          COLLECTED_MS,
        );
        await watch.stop();
        expect(violationsOfAgent(node, watch)).toEqual([]);
        expect(watch.looks()).toBeGreaterThan(KILLS_OF_THE_AGENT);
        // A killed containerd forgets what it was about to make, and does not list it: these are its own leftovers, which only a
        // search of the machine itself finds.
        const { lost } = await leftovers(node);
        if (lost.length > 0)
          console.warn(`containerd has lost sight of, in ${KILLS_OF_THE_RUNTIME} kills:\n${lost.join('\n')}`);
        if (kept.length > 0) console.warn('containerd has lost these sandboxes, of which a container is kept:', kept);
        expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      },
    );
  },
  { alone: true },
);
