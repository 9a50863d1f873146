import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import type { ListedContainer } from '../embedded/runtime-view.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import { killProcess } from '../support/kill-process.js';
import { BUSYBOX, type ContainerdNode, SERVER, WAIT } from './containerd-node.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode((node) => ['--config', node.configuration(QUICK_RESTARTS)]);

/**
 * The containers `main` and `other` once they run in another sandbox than that one. The stop or the removal of a sandbox ends its containers one after
 * the other, and an agent that sees the first end starts that one again where it was: what runs there meanwhile is ended, too.
 */
const runningElsewhere = (node: ContainerdNode, pod: string, sandboxId: string): Promise<readonly ListedContainer[]> =>
  eventually(`${pod} runs in another sandbox`, async () => {
    const newest = await Promise.all(['main', 'other'].map(async (name) => (await node.containersOf(pod, name))[0]));
    const found = newest.filter((one) => one?.state === 'CONTAINER_RUNNING' && one.sandboxId !== sandboxId);
    return found.length === newest.length && found.flatMap((one) => one ?? []);
  });

overContainerd('what is killed from outside', () => {
  it('is started again: a container in its sandbox, a sandbox with the next attempt', async ({ node }) => {
    node.apply({ name: 'web', containers: [{ image: SERVER, command: undefined }, { name: 'other' }] });
    const [first, other] = [await running(node, 'web'), await running(node, 'web', 'other')];
    const sandbox = await node.sandboxOf('web');
    killProcess(first.pid);
    const second = await node.reached('web', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(await node.status(first.id)).toMatchObject({ exitCode: 137, state: 'CONTAINER_EXITED' });
    expect((await running(node, 'web', 'other')).id).toBe(other.id);
    expect((await node.sandboxOf('web')).id).toBe(sandbox.id);
    expect((await node.containersOf('web')).every(({ sandboxId }) => sandboxId === sandbox.id)).toBe(true);

    killProcess(await node.sandboxPid(sandbox.id));
    await node.reached('web', 'CONTAINER_RUNNING', { attempt: 2 });
    await node.reached('web', 'CONTAINER_RUNNING', { name: 'other', attempt: 1 });
    expect((await node.status(second.id)).state).toBe('CONTAINER_EXITED');
    const next = await node.sandboxOf('web');
    expect(next).toMatchObject({ state: 'SANDBOX_READY', metadata: { attempt: 1 } });
    expect((await node.containersOf('web'))[0]?.sandboxId).toBe(next.id);
    const address = await node.addressOf('web');
    await eventually('it answers at its new address', async () => {
      return (await (await fetch(`http://${address}:8080/`)).text()) === 'hello from the image\n';
    });
    await eventually('the pod has the new address', async () => (await node.podStatus('web'))?.podIP === address);
  });

  it('is started again from its init containers on when it was the sandbox', async ({ node }) => {
    // What containers share in memory goes with the sandbox.
    const init = 'echo init >> /dev/shm/order';
    node.apply({ name: 'anew', initContainers: [{ name: 'init', script: init }], containers: [{}, { name: 'other' }] });
    const [main] = [await running(node, 'anew'), await running(node, 'anew', 'other')];
    const [before] = await node.containersOf('anew', 'init');
    const { id } = await node.sandboxOf('anew');
    await node.ask((runtime) => runtime.stopPodSandbox({ podSandboxId: id }));
    const [next] = await runningElsewhere(node, 'anew', id);
    expect(next?.id).not.toBe(main.id);
    expect(await node.exec(next?.id ?? '', 'cat', '/dev/shm/order')).toBe('init');
    const sandbox = await node.sandboxOf('anew');
    expect(sandbox).toMatchObject({ state: 'SANDBOX_READY', metadata: { attempt: 1 } });
    // Of init containers nothing is kept.
    const inits = await node.containersOf('anew', 'init');
    expect(inits).toMatchObject([{ sandboxId: sandbox.id, state: 'CONTAINER_EXITED' }]);
    expect(inits[0]?.id).not.toBe(before?.id);
    expect(node.log).toContain('SandboxChanged: Pod sandbox changed, it will be killed and re-created.');
  });

  it('is made again when it was removed', async ({ node }) => {
    node.apply({ name: 'removed', containers: [{}, { name: 'other' }] });
    const [main, other] = [await running(node, 'removed'), await running(node, 'removed', 'other')];
    const { id } = await node.sandboxOf('removed');
    await node.ask((runtime) => runtime.stopContainer({ containerId: main.id, timeout: 0n }));
    await node.ask((runtime) => runtime.removeContainer({ containerId: main.id }));
    const again = await eventually('it is there again', async () => {
      const found = await running(node, 'removed');
      return found.id !== main.id && found;
    });
    expect((await running(node, 'removed', 'other')).id).toBe(other.id);
    expect((await node.sandboxOf('removed')).id).toBe(id);

    await node.ask((runtime) => runtime.removePodSandbox({ podSandboxId: id }));
    const [next] = await runningElsewhere(node, 'removed', id);
    expect(next?.id).not.toBe(again.id);
  });
});

overContainerd('an edited pod that keeps its identity', () => {
  const edited = (node: ContainerdNode, image: string, value: string): void =>
    node.write(
      'edited.yaml',
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'edited', uid: 'edited-by-hand' } },
        spec: {
          terminationGracePeriodSeconds: 2,
          containers: [
            { name: 'main', image, command: ['sh', '-c', WAIT], env: [{ name: 'VALUE', value }] },
            { name: 'other', image: BUSYBOX, command: ['sh', '-c', WAIT] },
          ],
        },
      }),
    );

  it('has a container started again for another image, and for nothing else', async ({ node }) => {
    edited(node, BUSYBOX, 'one');
    const [main, other] = [await running(node, 'edited'), await running(node, 'edited', 'other')];
    const { id } = await node.sandboxOf('edited');
    edited(node, BUSYBOX, 'two');
    await eventually('the agent has read it', async () => {
      const pod = (await node.shownPods()).find(({ metadata }) => metadata.uid === 'edited-by-hand');
      return pod?.spec.containers[0]?.env?.[0]?.value === 'two';
    });
    edited(node, 'stage.test/named:1', 'three');
    const next = await node.reached('edited', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(next.image?.image).toBe('stage.test/named:1');
    expect(await node.exec(next.id, 'sh', '-c', 'echo $VALUE')).toBe('three');
    expect((await node.status(main.id)).state).toBe('CONTAINER_EXITED');
    expect((await node.sandboxOf('edited')).id).toBe(id);
    // The agent started none with the second value in between, and did not touch the other container.
    expect((await node.containersOf('edited', 'main')).map(({ attempt }) => attempt)).toEqual([1, 0]);
    expect(await node.containersOf('edited', 'other')).toMatchObject([{ id: other.id, state: 'CONTAINER_RUNNING' }]);
  });
});

overContainerd('a pod with a deadline', () => {
  it('is stopped when it is over, and has failed', async ({ node }) => {
    // With an identity of its own, so that it stays the same pod when it gets a deadline, which is over by then.
    const late = (more: object): void =>
      node.write(
        'late.yaml',
        JSON.stringify({
          ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'late', uid: 'late-by-hand' } },
          spec: {
            ...{ terminationGracePeriodSeconds: 2, restartPolicy: 'OnFailure', ...more },
            containers: [{ name: 'main', image: BUSYBOX, command: ['sh', '-c', WAIT] }],
          },
        }),
      );
    late({});
    node.apply({ name: 'in-time', activeDeadlineSeconds: 3_600 });
    const { id } = await running(node, 'late');
    late({ activeDeadlineSeconds: 1 });
    expect(await node.reached('late', 'CONTAINER_EXITED')).toMatchObject({ id });
    await eventually('the pod says why', async () => {
      expect(await node.podStatus('late')).toMatchObject({
        ...{ phase: 'Failed', reason: 'DeadlineExceeded' },
        message: 'Pod was active on the node longer than the specified deadline',
      });
      return true;
    });
    await eventually('its sandbox is stopped', async () => (await node.sandboxOf('late')).state === 'SANDBOX_NOTREADY');
    expect(await node.containersOf('late')).toHaveLength(1);
    expect((await running(node, 'in-time')).status.metadata?.attempt).toBe(0);
  });
});
