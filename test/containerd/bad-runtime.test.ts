import { status } from '@grpc/grpc-js';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import { watchRuntime } from '../embedded/watch.js';
import { killProcess } from '../support/kill-process.js';
import { type ContainerdNode, WAIT } from './containerd-node.js';
import { overContainerd } from './missing.js';
import { IMPATIENT, it, startOver } from './proxied-node.js';

const SLOW_MACHINE_MS = 420_000;
const LONG_MS = 180_000;

const why = async (node: ContainerdNode, pod: string): Promise<string> =>
  (await node.run('why', `${pod}-${NODE_NAME}`, '--root-dir', node.rootDir)).stdout;

const shown = async (node: ContainerdNode, pod: string) =>
  (await node.shownPods()).find(({ metadata }) => metadata.name === `${pod}-${NODE_NAME}`)?.status;

const numbered = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** Which instances run, by the pods that are meant. Errors: the pod has another number of running or ready ones than one each. */
const single = async (node: ContainerdNode, pod: string, name = 'main') => {
  const running = (await node.containersOf(pod, name)).filter(({ state }) => state === 'CONTAINER_RUNNING');
  const ready = (await node.sandboxes()).filter(
    (one) => one.pod === `${pod}-${NODE_NAME}` && one.state === 'SANDBOX_READY',
  );
  expect([pod, running.length, ready.length]).toEqual([pod, 1, 1]);
  return { id: running[0]?.id ?? '', pid: await node.pidOf(running[0]?.id ?? '') };
};

/** All of them run, one container in one sandbox each. */
const allRun = (node: ContainerdNode, pods: readonly string[]) =>
  eventually(
    `${pods.length} pods run, once each`,
    async () => {
      const found = new Map<string, { readonly id: string; readonly pid: number }>();
      for (const pod of pods) found.set(pod, await single(node, pod));
      return found;
    },
    LONG_MS,
  );

overContainerd(
  'one pod for which the runtime does not answer',
  () => {
    it(
      'holds up no other pod, says what it waits for, and goes on when it is answered',
      { timeout: SLOW_MACHINE_MS },
      async ({ node, proxy }) => {
        const stuck = {
          sandbox: proxy.hold({ methods: 'runPodSandbox', pod: 'sandbox' }),
          create: proxy.hold({ methods: 'createContainer', pod: 'create' }),
          start: proxy.hold({ methods: 'startContainer', pod: 'start' }),
          stop: proxy.hold({ methods: 'stopContainer', pod: 'stop' }),
        };
        for (const name of ['sandbox', 'create', 'start', 'stop', 'unread']) node.apply({ name });
        // A worker asks how its pod is with its next routine sync at the latest.
        await startOver(node, proxy, { ...QUICK_RESTARTS, syncFrequency: '10s' });
        const stopping = await node.reached('stop', 'CONTAINER_RUNNING');
        const unread = await node.reached('unread', 'CONTAINER_RUNNING');
        await eventually('both are known to run', async () =>
          (await Promise.all(['stop', 'unread'].map((pod) => shown(node, pod)))).every(
            (one) => one?.phase === 'Running',
          ),
        );
        const watch = watchRuntime(node);
        node.delete('stop.yaml');
        const reading = proxy.hold({ methods: 'containerStatus', pod: 'unread' });
        killProcess(await node.pidOf(unread.id));
        await eventually('all five wait', () => [...Object.values(stuck), reading].every(({ hits }) => hits() > 0));

        // Twenty others come, change and go meanwhile.
        const others = numbered(20, 'other');
        for (const name of others) node.apply({ name });
        const first = await allRun(node, others);
        const [changed, gone, kept] = [others.slice(0, 5), others.slice(5, 10), others.slice(10)];
        for (const name of changed) node.apply({ name, labels: { version: '2' } });
        for (const name of gone) node.delete(`${name}.yaml`);
        await eventually(
          'five have gone',
          async () => {
            const states = await Promise.all(gone.map((pod) => node.containersOf(pod)));
            return states.flat().every(({ state }) => state === 'CONTAINER_EXITED');
          },
          LONG_MS,
        );
        await eventually(
          'five are others',
          async () => {
            for (const name of changed) expect((await single(node, name)).id).not.toBe(first.get(name)?.id);
            return true;
          },
          LONG_MS,
        );
        for (const name of kept) expect(await single(node, name)).toEqual(first.get(name));

        // Each says what it waits for.
        const waiting = async (pod: string) => (await shown(node, pod))?.containerStatuses?.[0]?.state?.waiting;
        for (const [pod, call, waits] of [
          ['sandbox', 'RunPodSandbox', 'RunPodSandbox has not returned for 10 s'],
          ['create', 'CreateContainer main', 'CreateContainer has not returned for 10 s'],
          ['start', 'StartContainer main', 'StartContainer has not returned for 10 s'],
        ] as const) {
          await eventually(`${pod} shows what it waits for`, async () => {
            expect(await why(node, pod)).toContain(`next: the end of ${call}, which takes `);
            expect(await waiting(pod)).toEqual({ reason: 'ContainerCreating', message: waits });
            return true;
          });
        }
        await eventually('the pod that stops does', async () =>
          (await why(node, 'stop')).includes('next: the end of StopContainer main, which takes '),
        );
        await eventually(
          'the pod that cannot be read does',
          async () =>
            (await why(node, 'unread')).includes('next: the runtime has to return the state of the pod, which takes '),
          LONG_MS,
        );
        expect(await node.status(stopping.id)).toMatchObject({ state: 'CONTAINER_RUNNING' });

        for (const { release } of [...Object.values(stuck), reading]) release();
        await allRun(node, ['sandbox', 'create', 'start', 'unread']);
        expect((await node.containersOf('sandbox')).length).toBe(1);
        expect((await node.containersOf('create')).length).toBe(1);
        expect((await node.containersOf('start')).length).toBe(1);
        expect(await node.reached('unread', 'CONTAINER_RUNNING', { attempt: 1 })).toMatchObject({
          metadata: { attempt: 1 },
        });
        await eventually('the stopped one has stopped', async () =>
          // What has ended may be collected already.
          (await node.containersOf('stop')).every(({ state }) => state === 'CONTAINER_EXITED'),
        );
        await eventually('their status says so', async () => (await shown(node, 'create'))?.phase === 'Running');
        for (const name of kept) expect(await single(node, name)).toEqual(first.get(name));
        await watch.stop();
        expect(watch.violations).toEqual([]);
        expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      },
    );
  },
  { alone: true },
);

overContainerd(
  'calls past their deadline',
  () => {
    it(
      'fail in words, are made again, and nothing is doubled, even by those that had succeeded in the runtime',
      { timeout: SLOW_MACHINE_MS },
      async ({ node, proxy }) => {
        const once = { times: 1 };
        // These never reach the runtime.
        proxy.hold({ ...once, methods: 'runPodSandbox', pod: 'no-sandbox' });
        proxy.hold({ ...once, methods: 'createContainer', pod: 'no-create' });
        proxy.hold({ ...once, methods: 'startContainer', pod: 'no-start' });
        // These succeed there, and no reply arrives.
        proxy.holdAnswer({ ...once, methods: 'runPodSandbox', pod: 'late-sandbox' });
        proxy.holdAnswer({ ...once, methods: 'createContainer', pod: 'late-create' });
        proxy.holdAnswer({ ...once, methods: 'startContainer', pod: 'late-start' });
        proxy.holdAnswer({ ...once, methods: 'stopContainer', pod: 'late-stop' });
        const pods = ['no-sandbox', 'no-create', 'no-start', 'late-sandbox', 'late-create', 'late-start'];
        for (const name of [...pods, 'late-stop']) node.apply({ name });
        await startOver(node, proxy, IMPATIENT);
        const watch = watchRuntime(node);
        await node.reached('late-stop', 'CONTAINER_RUNNING');
        node.delete('late-stop.yaml');
        await allRun(node, pods);

        const failed = node.journal().filter((entry) => entry.kind === 'call' && entry.error !== undefined);
        const calls = failed.map(
          (entry) => entry.kind === 'call' && `${entry.call} ${entry.pod?.name}: ${entry.error}`,
        );
        const deadline = 'context deadline exceeded: the container runtime did not answer in time';
        for (const [pod, call] of [
          ['no-sandbox', 'RunPodSandbox'],
          ['no-create', 'CreateContainer'],
          ['no-start', 'StartContainer'],
          ['late-sandbox', 'RunPodSandbox'],
          ['late-create', 'CreateContainer'],
          ['late-start', 'StartContainer'],
        ]) {
          expect(calls).toContain(`${call} ${pod}-${NODE_NAME}: ${deadline}`);
        }
        await eventually('what no pod needs is removed', async () => {
          for (const pod of pods) {
            expect([pod, (await node.containersOf(pod)).length]).toEqual([pod, 1]);
            expect((await node.sandboxes()).filter((one) => one.pod === `${pod}-${NODE_NAME}`)).toHaveLength(1);
          }
          return true;
        });
        // What was never started is no restart.
        for (const pod of pods) expect(await node.containersOf(pod)).toMatchObject([{ attempt: 0 }]);
        await eventually('the one that stops has stopped, and its pod with it', async () => {
          // What has ended may be removed already.
          const sandboxes = (await node.sandboxes()).filter((one) => one.pod === `late-stop-${NODE_NAME}`);
          return (
            (await node.containersOf('late-stop')).every(({ state }) => state === 'CONTAINER_EXITED') &&
            sandboxes.every(({ state }) => state === 'SANDBOX_NOTREADY')
          );
        });
        expect(node.networks().length).toBe(pods.length);
        expect(node.addresses().length).toBe(pods.length);
        expect(node.shims().length).toBe(pods.length);
        await watch.stop();
        expect(watch.violations).toEqual([]);
      },
    );
  },
  { alone: true },
);

overContainerd(
  'a runtime that cannot list what it has',
  () => {
    it(
      'has nothing restarted or removed, makes the agent unhealthy, and is believed again afterwards',
      { timeout: SLOW_MACHINE_MS },
      async ({ node, proxy }) => {
        const pods = numbered(5, 'steady');
        for (const name of pods) node.apply({ name });
        await startOver(node, proxy);
        const before = await allRun(node, pods);
        await eventually('it is healthy', async () => (await node.health()).status === 200);
        const broken = proxy.fail(
          { methods: ['listPodSandbox', 'listContainers', 'status'] },
          status.INTERNAL,
          'the database is closed',
        );
        const asked = proxy.asked.length;
        node.apply({ name: 'new' });
        node.delete('steady-4.yaml');
        await eventually('it says that it is not healthy', async () => (await node.health()).status === 500, LONG_MS);
        const changing = /^(run|stop|remove|create|start|pull)/;
        const changes = proxy.asked.slice(asked).filter((line) => changing.test(line));
        expect(changes.filter((line) => !/^\w+ (new|steady-4)\//.test(line))).toEqual([]);
        expect(node.log).toContain('the database is closed');
        broken.remove();
        await eventually('it is healthy again', async () => (await node.health()).status === 200, LONG_MS);
        await allRun(node, ['new']);
        await eventually('the deleted one has stopped', async () =>
          (await node.containersOf('steady-4')).every(({ state }) => state === 'CONTAINER_EXITED'),
        );
        for (const name of pods.slice(0, 4)) expect(await single(node, name)).toEqual(before.get(name));
      },
    );
  },
  { alone: true },
);

overContainerd(
  'a runtime that lies',
  () => {
    it(
      'does not crash the agent, and healthy pods are left alone',
      { timeout: SLOW_MACHINE_MS },
      async ({ node, proxy }) => {
        const pods = numbered(4, 'healthy');
        const lies = ['no-status', 'no-id', 'no-time', 'no-image', 'cut', 'new-state', 'no-sandbox-status'];
        for (const name of [...pods, ...lies]) node.apply({ name });
        // The stream of events is the test's own; containerd has none before 1.7.
        proxy.takeOverEvents(true);
        await startOver(node, proxy);
        const before = await allRun(node, [...pods, ...lies]);
        await eventually('the agent listens', () => proxy.listeners > 0);
        const about = (pod: string) => ({ methods: 'containerStatus' as const, pod });
        const rules = [
          proxy.answer(about('no-status'), (answer) => ({ ...answer, status: undefined })),
          proxy.answer(about('no-id'), ({ status: told, ...answer }) => ({
            ...answer,
            status: told && { ...told, id: '' },
          })),
          proxy.answer(about('no-time'), ({ status: told, ...answer }) => ({
            ...answer,
            status: told && { ...told, createdAt: 0n },
          })),
          proxy.answer(about('no-image'), ({ status: told, ...answer }) => ({
            ...answer,
            status: told && { ...told, image: undefined, imageRef: '' },
          })),
          proxy.truncate(about('cut')),
          proxy.rule(about('new-state'), async ({ forward }) => {
            // Field 1 (status), then its field 3 (state): the last occurrence of a field counts.
            const bytes = await forward();
            return Buffer.concat([bytes, Buffer.from([0x0a, 0x02, 0x18, 0x63])]);
          }),
          proxy.answer({ methods: 'podSandboxStatus', pod: 'no-sandbox-status' }, (answer) => ({
            ...answer,
            status: undefined,
          })),
        ];
        const uids = new Map((await node.sandboxes()).map(({ pod, uid }) => [pod, uid]));
        const tellOf = (pod: string) =>
          proxy.tell({
            containerId: 'whatever',
            containerEventType: 'CONTAINER_STOPPED_EVENT',
            createdAt: 0n,
            podSandboxStatus: {
              ...{ id: 'x', state: 'SANDBOX_NOTREADY', createdAt: 0n, network: undefined, linux: undefined },
              ...{ labels: {}, annotations: {}, runtimeHandler: '' },
              metadata: { name: pod, namespace: 'default', uid: uids.get(`${pod}-${NODE_NAME}`) ?? pod, attempt: 9 },
            },
            containersStatuses: [],
          });
        // Events that are doubled, of pods that do not exist, in no order, and without a pod.
        for (const pod of [...lies, ...pods, 'nobody', ...lies, ...pods].toReversed()) tellOf(pod);
        proxy.tell({
          ...{ containerId: '', containerEventType: 'CONTAINER_DELETED_EVENT', createdAt: -1n },
          ...{ podSandboxStatus: undefined, containersStatuses: [] },
        });
        await eventually('every lie was read', () => rules.every(({ hits }) => hits() > 1));
        await eventually('the agent says which pods it cannot read', () => {
          const said = node.logged().filter(({ message }) => message === 'cannot read a pod from the runtime');
          return said.length >= rules.length;
        });

        for (const pod of [...pods, ...lies]) expect([pod, await single(node, pod)]).toEqual([pod, before.get(pod)]);
        expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });

        // Without events the next agent lists every second.
        for (const rule of rules) rule.remove();
        proxy.takeOverEvents(false);
        await startOver(node, proxy);
        const { agent } = node;
        const allShown = () =>
          eventually(
            'all of them are read',
            async () =>
              (await Promise.all([...lies, ...pods].map((pod) => shown(node, pod)))).every(
                (one) => one?.phase === 'Running',
              ),
            LONG_MS,
          );
        await allShown();
        // A listing without its second half, and one in which an item has lost what names it.
        const halves = [proxy.truncate({ methods: 'listContainers', times: 3 })];
        const nameless = proxy.answer({ methods: 'listPodSandbox', times: 3 }, (answer) => ({
          ...answer,
          items: [...answer.items, { ...answer.items[0]!, id: '', metadata: undefined, labels: {}, createdAt: 0n }],
        }));
        await eventually('they were read', () => [...halves, nameless].every(({ hits }) => hits() >= 3));
        // What a pod has is not gone because a listing leaves it out.
        const gone = proxy.answer({ methods: 'listContainers', times: 6 }, (answer) => ({ ...answer, containers: [] }));
        const goneToo = proxy.answer({ methods: 'listPodSandbox', times: 6 }, (answer) => ({ ...answer, items: [] }));
        await eventually('nothing was listed for a while', () => gone.hits() >= 6 && goneToo.hits() >= 6);
        // Connections are cut in the middle of all calls under way.
        proxy.cut();

        node.apply({ name: 'after' });
        await allRun(node, ['after']);
        await allShown();
        for (const pod of [...pods, ...lies]) expect([pod, await single(node, pod)]).toEqual([pod, before.get(pod)]);
        expect(node.agent).toBe(agent);
        expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      },
    );
  },
  { alone: true },
);

overContainerd(
  'pulls that hang',
  () => {
    it('hold up their own pods only', { timeout: SLOW_MACHINE_MS }, async ({ node, proxy }) => {
      const pulls = proxy.hold({ methods: 'pullImage' });
      const waiting = numbered(3, 'pulling');
      for (const name of waiting) {
        node.apply({ name, containers: [{ image: `stage.test/none-${name}:1`, script: WAIT }] });
      }
      const others = numbered(6, 'other');
      for (const name of others) node.apply({ name });
      await startOver(node, proxy, { ...QUICK_RESTARTS, serializeImagePulls: false });
      await eventually('every pull is under way', () => pulls.hits() === waiting.length);
      await allRun(node, others);
      for (const pod of waiting) {
        await eventually(`${pod} says what it waits for`, async () =>
          (await why(node, pod)).includes(`next: the end of PullImage stage.test/none-${pod}:1, which takes `),
        );
      }
      // One of them is not wanted any more; it goes although its pull has not come back.
      node.delete('pulling-0.yaml');
      await eventually('it has gone', async () =>
        (await node.shownPods()).every(({ metadata }) => metadata.name !== `pulling-0-${NODE_NAME}`),
      );
      await eventually('its sandbox is stopped', async () =>
        (await node.sandboxes()).every(
          (one) => one.pod !== `pulling-0-${NODE_NAME}` || one.state === 'SANDBOX_NOTREADY',
        ),
      );
      pulls.release();
      await eventually('the others report that there is no such image', async () => {
        const reason = (await shown(node, 'pulling-1'))?.containerStatuses?.[0]?.state?.waiting?.reason;
        return reason === 'ErrImagePull' || reason === 'ImagePullBackOff';
      });
    });
  },
  { alone: true },
);
