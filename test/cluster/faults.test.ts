import { it as baseIt, expect } from 'vitest';
import { podsPath } from '../../src/model/kube-api/api-paths.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { BUSYBOX, NAMED } from '../containerd/containerd-node.js';
import { keepLog } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { dice, pause, SEED } from '../embedded/seeded.js';
import type { ApiProxy } from '../support/api-proxy.js';
import { type ClusterNode, containerOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { proxiedNode } from './proxied-node.js';
import { weather } from './weather.js';

const NODE = 'stormy';

const it = baseIt.extend<{ readonly stormy: { readonly node: ClusterNode; readonly proxy: ApiProxy } }>({
  stormy: async ({ task, onTestFailed }, use) => {
    const { node, proxy, close } = await proxiedNode(NODE);
    onTestFailed(() => keepLog(task, node));
    try {
      await node.startRuntime();
      await node.start();
      await use({ node, proxy });
    } finally {
      await node.dispose();
      await close();
    }
  },
});

/** What there is to be of a pod. */
interface Wanted {
  readonly uid: string;
  readonly version: string;
  readonly image: string;
  /** The number of changes of its image, and so of allowed restarts of its container. */
  readonly changes: number;
}

const NAMES = Array.from({ length: 10 }, (_, index) => `p${index}`);
const STEPS = 120;
const MOST_STEPS = 10 * STEPS;
const KINDS = ['refused', 'reset', 'stalled', 'cut', 'slow', 'reset-all'];
const CONVERGENCE_MS = 240_000;

overCluster('between an agent and an API server that can hardly understand each other', () => {
  it('nothing is lost, and nothing is done twice', { timeout: 900_000 }, async ({ stormy: { node, proxy } }) => {
    const rolls = dice(SEED);
    const { between, oneOf } = rolls;
    const wanted = new Map<string, Wanted>();
    /** Pods that are to end by themselves: what they ended with is all that they are looked at for. */
    const jobs = new Map<string, number>();
    let version = 0;
    const put = async (name: string): Promise<void> => {
      version += 1;
      const image = oneOf([BUSYBOX, NAMED]);
      const labels = { version: `v${version}` };
      const { metadata } = await node.create({
        name,
        labels,
        terminationGracePeriodSeconds: 1,
        containers: [{ image }],
      });
      wanted.set(name, { uid: metadata.uid, version: `v${version}`, image, changes: 0 });
    };
    const run = async (): Promise<void> => {
      const [name, exitCode] = [`job${jobs.size}`, between(0, 3)];
      await node.create({
        name,
        restartPolicy: 'Never',
        containers: [{ script: `sleep 0.${between(0, 9)}; exit ${exitCode}` }],
      });
      jobs.set(name, exitCode);
    };
    const change = async (name: string, before: Wanted): Promise<void> => {
      if (between(1, 2) === 1) {
        version += 1;
        await node.admin.patch(node.path(name), { metadata: { labels: { version: `v${version}` } } });
        wanted.set(name, { ...before, version: `v${version}` });
      } else {
        const image = before.image === BUSYBOX ? NAMED : BUSYBOX;
        await node.admin.patch(node.path(name), { spec: { containers: [{ name: 'main', image }] } });
        wanted.set(name, { ...before, image, changes: before.changes + 1 });
      }
    };
    const remove = async (name: string): Promise<void> => {
      wanted.delete(name);
      const { graceSeconds } = oneOf([{}, { graceSeconds: 0 }, { graceSeconds: 1 }] as { graceSeconds?: number }[]);
      await node.admin.remove(node.path(name), graceSeconds);
    };
    const step = async (): Promise<void> => {
      const name = oneOf(NAMES);
      const before = wanted.get(name);
      const draw = between(1, 10);
      if (draw === 1) proxy.resetAll();
      else if (draw === 2) await run();
      else if (before && draw <= 5) await remove(name);
      else if (before) await change(name, before);
      // One that is still going keeps its name.
      else if (!(await node.admin.find(node.path(name)))) await put(name);
    };

    proxy.decide = weather(rolls);
    // Until there was enough to lose.
    const isCalm = () => KINDS.some((kind) => (proxy.done.get(kind) ?? 0) === 0);
    for (let count = 0; count < STEPS || (isCalm() && count < MOST_STEPS); count++) {
      await step();
      await pause(between(20, 400));
    }
    proxy.decide = () => undefined;

    const told = `seed ${SEED}: `;
    await eventually(
      `${told}the API shows what was wanted`,
      async () => {
        const pods = await node.admin.list<Pod>(podsPath(NODE));
        const shown = pods.filter(({ metadata }) => !jobs.has(metadata.name)).map(shownOf);
        expect(new Map(shown)).toEqual(new Map([...wanted].map(([name, { changes: _, ...rest }]) => [name, rest])));
        for (const [name, exitCode] of jobs) {
          const job = pods.find(({ metadata }) => metadata.name === name);
          expect(job?.status?.phase, name).toBe(exitCode === 0 ? 'Succeeded' : 'Failed');
          expect(job && containerOf(job).state?.terminated?.exitCode, name).toBe(exitCode);
        }
        return true;
      },
      CONVERGENCE_MS,
    );
    await eventually(`${told}the runtime has what was wanted`, async () => {
      const running = (await node.containers()).filter(({ state }) => state === 'CONTAINER_RUNNING');
      expect(running.map(({ pod, uid }) => `${pod} ${uid}`).sort()).toEqual(
        [...wanted].map(([name, { uid }]) => `${name} ${uid}`).sort(),
      );
      const ready = (await node.sandboxes()).filter(({ state }) => state === 'SANDBOX_READY');
      expect(ready.map(({ uid }) => uid).sort()).toEqual([...wanted.values()].map(({ uid }) => uid).sort());
      return true;
    });
    // Every start has a cause: the first one, or another image.
    for (const { pod, uid, attempt } of await node.containers()) {
      const changes = [...wanted.values()].find((one) => one.uid === uid)?.changes;
      if (changes !== undefined) expect(attempt, `${told}${pod}`).toBeLessThanOrEqual(changes);
      if (jobs.has(pod)) expect(attempt, `${told}${pod}`).toBe(0);
    }
    for (const kind of KINDS) {
      expect(proxy.done.get(kind) ?? 0, `${told}${kind}`).toBeGreaterThan(0);
    }
  });
});

/** The pod as it would be wanted if it were; with what is wrong about it. */
const shownOf = ({ metadata, spec, status }: Pod): readonly [string, object] => {
  const [container] = status?.containerStatuses ?? [];
  const isRunning =
    status?.phase === 'Running' && container?.ready === true && container.image === spec.containers[0]?.image;
  return [
    metadata.name,
    {
      uid: metadata.uid,
      version: metadata.labels?.version,
      image: spec.containers[0]?.image,
      ...(!isRunning && { phase: status?.phase, container }),
      ...(metadata.deletionTimestamp !== undefined && { deletionTimestamp: metadata.deletionTimestamp }),
    },
  ];
};
