import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { expectOrder, ITS_ORDER, orderedPod } from '../embedded/ordered-pod.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode((node) => ['--config', node.configuration(QUICK_RESTARTS)], { keptPods: /^(order|several)$/ });
/** All of a pod's containers see its shared memory. */
const ORDER = '/dev/shm/order';
const untilTerm = (name: string) =>
  `trap 'echo ${name} stops >> ${ORDER}; cat ${ORDER}; exit 0' TERM; echo ${name} starts >> ${ORDER}; while :; do sleep 0.05; done`;

overContainerd('init containers and sidecars', () => {
  it('start and stop in their order', async ({ node }) => {
    node.apply(orderedPod('order', ORDER));
    const main = await running(node, 'order');
    await eventually('main has started', async () => (await node.exec(main.id, 'cat', ORDER)).endsWith('main starts'));
    await expectOrder(node, 'order');
    node.keepLog(await node.reached('order', 'CONTAINER_RUNNING', { name: 'sidecar' }));
    node.delete('order.yaml');
    const stopped = await node.reached('order', 'CONTAINER_EXITED', { name: 'sidecar' });
    expect(node.output(stopped)).toEqual(ITS_ORDER);
  });

  it('stop last to first when there are several, after all others', async ({ node }) => {
    const sidecar = (name: string) => ({ name, restartPolicy: 'Always', script: untilTerm(name) });
    node.apply({
      name: 'several',
      terminationGracePeriodSeconds: 120,
      initContainers: ['one', 'two', 'three'].map(sidecar),
      containers: [{ script: untilTerm('main') }],
    });
    const { id } = await running(node, 'several');
    await eventually('all are up', async () => (await node.exec(id, 'cat', ORDER)).split('\n').length === 4);
    node.keepLog(await node.reached('several', 'CONTAINER_RUNNING', { name: 'one' }));
    node.delete('several.yaml');
    const output = node.output(await node.reached('several', 'CONTAINER_EXITED', { name: 'one' }));
    // A sidecar without a startup probe has started as soon as it runs: the next one does not wait for what it writes.
    expect(output.slice(0, 4).toSorted()).toEqual(['main starts', 'one starts', 'three starts', 'two starts']);
    expect(output.slice(4)).toEqual(['main stops', 'three stops', 'two stops', 'one stops']);
  });
});

overContainerd('an init container that fails', () => {
  const fails = (restartPolicy: string) => ({
    ...{ name: `fails-${restartPolicy.toLowerCase()}`, restartPolicy },
    initContainers: [{ name: 'init', script: 'exit 3' }, { name: 'next' }],
  });

  it.for(['Always', 'OnFailure'])('is tried again, and holds back all others: %s', async (policy, { node }) => {
    const pod = fails(policy);
    node.apply(pod);
    expect(await node.reached(pod.name, 'CONTAINER_EXITED', { name: 'init', attempt: 2 })).toMatchObject({
      exitCode: 3,
    });
    expect((await node.containersOf(pod.name)).map(({ name }) => name)).not.toContain('next');
    await eventually(
      'it waits for its init container',
      async () => {
        expect(await node.podStatus(pod.name)).toMatchObject({
          phase: 'Pending',
          containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
        });
        return (await node.waiting(pod.name, 'init')).reason === 'CrashLoopBackOff';
      },
      120_000,
    );
    expect(await node.containersOf(pod.name, 'main')).toEqual([]);
    node.delete(`${pod.name}.yaml`);
  });

  it('ends its pod if it may not be tried again', async ({ node }) => {
    const pod = fails('Never');
    node.apply(pod);
    await eventually('the pod has failed', async () => (await node.podStatus(pod.name))?.phase === 'Failed');
    await eventually('its sandbox is stopped', async () => {
      return (await node.sandboxOf(pod.name)).state === 'SANDBOX_NOTREADY';
    });
    expect(await node.containersOf(pod.name)).toMatchObject([{ name: 'init', attempt: 0, state: 'CONTAINER_EXITED' }]);
  });

  it('does no harm once it has succeeded', async ({ node }) => {
    const failsOnce = 'echo x >> /dev/shm/tries; [ $(wc -l < /dev/shm/tries) -gt 1 ] || exit 3';
    node.apply({ name: 'second-try', initContainers: [{ name: 'init', script: failsOnce }] });
    await running(node, 'second-try');
    expect((await node.containersOf('second-try', 'init'))[0]).toMatchObject({ attempt: 1, state: 'CONTAINER_EXITED' });
  });
});

overContainerd('a sidecar', () => {
  it('that ends is started again, under any policy of its pod, and disturbs no other container', async ({ node }) => {
    node.apply({
      ...{ name: 'ends', restartPolicy: 'Never' },
      initContainers: [{ name: 'sidecar', restartPolicy: 'Always', script: 'sleep 0.5; exit 0' }],
    });
    const { id } = await running(node, 'ends');
    await node.reached('ends', 'CONTAINER_EXITED', { name: 'sidecar', attempt: 2 });
    expect(await node.containersOf('ends', 'main')).toMatchObject([{ id, state: 'CONTAINER_RUNNING', attempt: 0 }]);
    node.delete('ends.yaml');
  });

  it('does not keep its pod alive', async ({ node }) => {
    node.apply({
      ...{ name: 'job', restartPolicy: 'Never' },
      initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }],
      containers: [{ script: 'until [ -e /dev/shm/go ]; do sleep 0.05; done' }],
    });
    const [main] = [await running(node, 'job'), await running(node, 'job', 'sidecar')];
    await node.letGo(main.id, '/dev/shm/go');
    await eventually('the pod has succeeded', async () => (await node.podStatus('job'))?.phase === 'Succeeded');
    expect(await node.reached('job', 'CONTAINER_EXITED', { name: 'sidecar' })).toMatchObject({ exitCode: 0 });
    await eventually('its sandbox is stopped', async () => (await node.sandboxOf('job')).state === 'SANDBOX_NOTREADY');
    expect(await node.containersOf('job', 'sidecar')).toHaveLength(1);
  });
});
