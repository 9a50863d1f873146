import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { PodStatus } from '../../src/model/pod.js';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { expectOrder, ITS_ORDER, orderedPod } from '../embedded/ordered-pod.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import { type ContainerdNode, it, SERVER, WAIT } from './containerd-node.js';
import { overContainerd } from './missing.js';

const BACK_OFF_NS = 10_000_000_000n;
const SECOND_NS = 1_000_000_000n;

const shown = async (node: ContainerdNode, pod: string): Promise<PodStatus | undefined> =>
  (await node.shownPods()).find(({ metadata }) => metadata.name === `${pod}-${NODE_NAME}`)?.status;

/** The newest container, once it runs and has written `up`. */
const up = async (
  node: ContainerdNode,
  pod: string,
  options?: { readonly name?: string; readonly attempt?: number },
) => {
  const status = await node.reached(pod, 'CONTAINER_RUNNING', options);
  await eventually(`${pod} is up`, () => node.output(status).includes('up'));
  return status;
};

overContainerd('the containers of a pod', () => {
  it('start and stop in their order', async ({ node }) => {
    // All of a pod's containers see its shared memory.
    node.apply(orderedPod('order', '/dev/shm/order'));
    await node.start();
    const main = await node.reached('order', 'CONTAINER_RUNNING');
    await eventually('main has started', async () =>
      (await node.exec(main.id, 'cat', '/dev/shm/order')).endsWith('main starts'),
    );
    await expectOrder(node, 'order');
    node.delete('order.yaml');
    const stopped = await node.reached('order', 'CONTAINER_EXITED', { name: 'sidecar' });
    expect(node.output(stopped)).toEqual(ITS_ORDER);
  });

  it('are started again as the restart policy says', async ({ node }) => {
    const failsOnce = 'echo x >> /dev/shm/tries; [ $(wc -l < /dev/shm/tries) -gt 1 ] || exit 3';
    node.apply({ name: 'on-failure', restartPolicy: 'OnFailure', containers: [{ script: failsOnce }] });
    node.apply({ name: 'never', restartPolicy: 'Never', containers: [{ script: 'exit 4' }] });
    node.apply({ name: 'always', restartPolicy: 'Always', containers: [{ script: 'exit 0' }] });
    await node.start('--config', node.configuration(QUICK_RESTARTS));
    expect(await node.reached('never', 'CONTAINER_EXITED')).toMatchObject({ exitCode: 4, reason: 'Error' });
    expect(await node.reached('on-failure', 'CONTAINER_EXITED', { attempt: 1 })).toMatchObject({
      ...{ exitCode: 0, reason: 'Completed' },
    });
    // By then the others would have been started again, too.
    await node.reached('always', 'CONTAINER_EXITED', { attempt: 4 });
    expect(await node.containersOf('never')).toMatchObject([{ attempt: 0 }]);
    expect((await node.containersOf('on-failure'))[0]).toMatchObject({ attempt: 1 });
    await eventually('the phases tell the same', async () => {
      const phases = await Promise.all(['always', 'never', 'on-failure'].map((name) => shown(node, name)));
      expect(phases.map((status) => status?.phase)).toEqual(['Running', 'Failed', 'Succeeded']);
      return true;
    });
  });

  it('wait longer and longer when they keep failing', async ({ node }) => {
    node.apply({ name: 'crash', containers: [{ script: 'exit 1' }] });
    node.apply({ name: 'no-command', containers: [{ command: ['/no/such/file'] }] });
    await node.start();
    const second = await node.reached('crash', 'CONTAINER_EXITED', { attempt: 1 });
    await eventually('it is shown as backing off', async () => {
      const waiting = (await shown(node, 'crash'))?.containerStatuses?.[0]?.state?.waiting;
      return waiting?.reason === 'CrashLoopBackOff';
    });
    const third = await node.reached('crash', 'CONTAINER_EXITED', { attempt: 2 });
    expect(third.startedAt - second.finishedAt).toBeGreaterThanOrEqual(BACK_OFF_NS);
    // What cannot even be started is told with the words of the runtime.
    await eventually('it says what cannot be started', async () => {
      const text = JSON.stringify((await shown(node, 'no-command'))?.containerStatuses?.[0]);
      return text.includes('/no/such/file') && /RunContainerError|StartError|CrashLoopBackOff/.test(text);
    });
  });
});

overContainerd('stopping', () => {
  it('lets a container end by itself, and kills one that does not after its grace period', async ({ node }) => {
    const says = (action: string) => `trap '${action}' TERM; echo up; while :; do sleep 0.1; done`;
    node.apply({ name: 'polite', containers: [{ script: says('echo bye; exit 7') }] });
    node.apply({ name: 'deaf', terminationGracePeriodSeconds: 3, containers: [{ script: says('echo deaf') }] });
    await node.start();
    const [polite, deaf] = await Promise.all([up(node, 'polite'), up(node, 'deaf')]);
    node.delete('polite.yaml');
    node.delete('deaf.yaml');
    expect(await node.reached('polite', 'CONTAINER_EXITED')).toMatchObject({ id: polite.id, exitCode: 7 });
    expect(node.output(polite).at(-1)).toBe('bye');
    const killed = await node.reached('deaf', 'CONTAINER_EXITED');
    expect(killed).toMatchObject({ id: deaf.id, exitCode: 137 });
    const asked = readFileSync(deaf.logPath, 'utf8')
      .split('\n')
      .find((line) => line.endsWith('stdout F deaf'));
    const askedAt = BigInt(Date.parse(asked?.split(' ')[0] ?? '')) * 1_000_000n;
    // The shell hears of the signal when its sleep has ended, 0.1 s later at most.
    expect(killed.finishedAt - askedAt).toBeGreaterThanOrEqual(3n * SECOND_NS - SECOND_NS / 5n);
    await eventually('the sandboxes are stopped', async () =>
      (await node.sandboxes()).every(({ state }) => state === 'SANDBOX_NOTREADY'),
    );
  });

  it('runs the hook first', async ({ node }) => {
    const exec = { command: ['sh', '-c', 'echo hook > /proc/1/fd/1; sleep 1'] };
    const script = "trap 'echo term; exit 0' TERM; echo up; while :; do sleep 0.05; done";
    const grace = { terminationGracePeriodSeconds: 20 };
    node.apply({ name: 'exec', ...grace, containers: [{ script, lifecycle: { preStop: { exec } } }] });
    node.apply({
      name: 'sleep',
      ...grace,
      containers: [{ script, lifecycle: { preStop: { sleep: { seconds: 2 } } } }],
    });
    const post = { exec: { command: ['sh', '-c', 'echo started > /proc/1/fd/1'] } };
    node.apply({ name: 'post', containers: [{ lifecycle: { postStart: post } }] });
    await node.start();
    const [hooked] = await Promise.all([up(node, 'exec'), up(node, 'sleep')]);
    const { logPath } = await node.reached('post', 'CONTAINER_RUNNING');
    await eventually('the hook after the start has run', () => node.output({ logPath }).includes('started'));
    const deletedAt = BigInt(Date.now()) * 1_000_000n;
    node.delete('exec.yaml');
    node.delete('sleep.yaml');
    expect(await node.reached('exec', 'CONTAINER_EXITED')).toMatchObject({ exitCode: 0 });
    expect(node.output(hooked)).toEqual(['up', 'hook', 'term']);
    const slept = await node.reached('sleep', 'CONTAINER_EXITED');
    expect(slept.exitCode).toBe(0);
    expect(slept.finishedAt - deletedAt).toBeGreaterThanOrEqual(2n * SECOND_NS);
  });

  it('takes the pods along with the agent where that is asked for', async ({ node }) => {
    node.apply({ name: 'one' });
    node.apply({ name: 'two' });
    await node.start('--stop-pods-on-exit');
    await Promise.all(['one', 'two'].map((pod) => node.reached(pod, 'CONTAINER_RUNNING')));
    expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect((await node.containers()).map(({ state }) => state)).toEqual(['CONTAINER_EXITED', 'CONTAINER_EXITED']);
    expect((await node.sandboxes()).map(({ state }) => state)).toEqual(['SANDBOX_NOTREADY', 'SANDBOX_NOTREADY']);
  });
});

overContainerd('what is killed from outside', () => {
  it('is started again: a container in its sandbox, a sandbox with the next attempt', async ({ node }) => {
    node.apply({ name: 'web', containers: [{ name: 'main', image: SERVER, command: undefined }, { name: 'other' }] });
    await node.start('--config', node.configuration(QUICK_RESTARTS));
    const first = await node.reached('web', 'CONTAINER_RUNNING');
    const other = await node.reached('web', 'CONTAINER_RUNNING', { name: 'other' });
    process.kill(await node.pidOf(first.id), 'SIGKILL');
    const second = await node.reached('web', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(await node.status(first.id)).toMatchObject({ exitCode: 137, state: 'CONTAINER_EXITED' });
    expect(await node.reached('web', 'CONTAINER_RUNNING', { name: 'other' })).toMatchObject({ id: other.id });
    const [sandbox, ...more] = await node.sandboxes();
    expect(more).toEqual([]);
    expect((await node.containersOf('web')).every(({ sandboxId }) => sandboxId === sandbox?.id)).toBe(true);

    process.kill(await node.sandboxPid(sandbox?.id ?? ''), 'SIGKILL');
    const third = await node.reached('web', 'CONTAINER_RUNNING', { attempt: 2 });
    await node.reached('web', 'CONTAINER_RUNNING', { name: 'other', attempt: 1 });
    expect((await node.status(second.id)).state).toBe('CONTAINER_EXITED');
    const { items } = await node.ask((runtime) =>
      runtime.listPodSandbox({ filter: { state: { state: 'SANDBOX_READY' } } }),
    );
    expect(items).toMatchObject([{ metadata: { name: `web-${NODE_NAME}`, attempt: 1 } }]);
    expect((await node.containersOf('web'))[0]?.sandboxId).toBe(items[0]?.id);
    const { status } = await node.ask((runtime) => runtime.podSandboxStatus({ podSandboxId: items[0]?.id ?? '' }));
    await eventually('it answers at its new address', async () => {
      const response = await fetch(`http://${status?.network?.ip}:8080/`);
      return (await response.text()) === 'hello from the image\n';
    });
    await eventually('the pod has the new address', async () => {
      return (await shown(node, 'web'))?.podIP === status?.network?.ip;
    });
    expect(third.id).not.toBe(second.id);
  });
});

overContainerd('an image', () => {
  it('is pulled if it may be, and else the reason is told', async ({ node }) => {
    const registry = await node.registries();
    const pulled = `${registry.open}/server:1`;
    const pod = (name: string, image: string, imagePullPolicy: string) =>
      node.apply({ name, containers: [{ image, imagePullPolicy, script: 'echo up; ' + WAIT }] });
    pod('never', 'stage.test/none:1', 'Never');
    pod('gone', `${registry.open}/none:1`, 'IfNotPresent');
    pod('pulled', pulled, 'Always');
    await node.start();
    const waiting = async (name: string) => (await shown(node, name))?.containerStatuses?.[0]?.state?.waiting;
    await eventually('one may not be pulled', async () => {
      expect(await waiting('never')).toEqual({
        reason: 'ErrImageNeverPull',
        message: 'Container image "stage.test/none:1" is not present with pull policy of Never',
      });
      return true;
    });
    await eventually('one cannot be pulled', async () => {
      const told = await waiting('gone');
      expect(told?.message).toContain(`${registry.open}/none:1`);
      expect(told?.message).toContain('not found');
      return told?.reason === 'ErrImagePull' || told?.reason === 'ImagePullBackOff';
    });
    await eventually('the next try waits', async () => (await waiting('gone'))?.reason === 'ImagePullBackOff');
    await up(node, 'pulled');
    expect(registry.served('open')).toContain('HEAD /v2/server/manifests/1 200');
    expect((await node.containersOf('never')).concat(await node.containersOf('gone'))).toEqual([]);
  });
});

overContainerd('an agent', () => {
  it('adopts what it finds, and puts up with a runtime that restarts', async ({ node }) => {
    node.apply({ name: 'steady', containers: [{}, { name: 'other' }] });
    node.apply({ name: 'done', restartPolicy: 'Never', containers: [{ script: 'exit 5' }] });
    await node.start();
    await Promise.all(['main', 'other'].map((name) => node.reached('steady', 'CONTAINER_RUNNING', { name })));
    await node.reached('done', 'CONTAINER_EXITED');
    const before = await node.containers();
    const again = async (phase: string) => {
      // A pod that comes after all others shows that they were looked at.
      node.apply({ name: phase });
      await node.reached(phase, 'CONTAINER_RUNNING');
      expect((await node.containers()).filter(({ pod }) => pod !== `${phase}-${NODE_NAME}`)).toEqual(before);
      node.delete(`${phase}.yaml`);
      await eventually(`${phase} is gone`, async () => {
        const { sandboxId = '' } = (await node.containersOf(phase))[0] ?? {};
        if (!sandboxId) return true;
        await node.ask((runtime) => runtime.removePodSandbox({ podSandboxId: sandboxId }));
        return undefined;
      });
    };
    expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await node.containers()).toEqual(before);
    await node.start();
    await again('after-the-agent');
    await node.killRuntime('SIGTERM');
    await node.startRuntime();
    await again('after-the-runtime');
    await eventually('it is healthy', async () => (await node.get('/healthz')).status === 200);
    expect(await shown(node, 'done')).toMatchObject({ phase: 'Failed' });
  });
});
