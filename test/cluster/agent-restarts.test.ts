import { expect } from 'vitest';
import type { Pod } from '../../src/model/pod/pod.js';
import { containerOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const it = onNode('restarts');

const restarts = (): void => {
  it('that is killed and started again finds everything as it was', async ({ node }) => {
    const names = ['one', 'two'];
    for (const name of names) await node.create({ name, initContainers: [{ name: 'init', script: 'true' }] });
    await node.create({ name: 'done', restartPolicy: 'Never', containers: [{ script: 'exit 0' }] });
    node.apply({ name: 'static' });
    const mirrorPath = '/api/v1/namespaces/default/pods/static-restarts';
    const before = await Promise.all(names.map((name) => node.running(name)));
    const done = await node.ended('done', 'Succeeded');
    await node.kill('SIGKILL');
    await node.start();
    // What is asked for afterwards is done, so that all effects of a restart on the others have happened, too.
    await node.create({ name: 'after' });
    await node.running('after');
    const after = await Promise.all(names.map((name) => node.running(name)));
    expect(after.map((pod) => containerOf(pod))).toEqual(before.map((pod) => containerOf(pod)));
    expect(after.map(({ status }) => status?.startTime)).toEqual(before.map(({ status }) => status?.startTime));
    // Its address has gone with its sandbox; only the former agent still knew it.
    const withoutAddress = ({ status }: Pod) => ({ ...status, podIP: undefined, podIPs: undefined });
    expect(withoutAddress(await node.ended('done', 'Succeeded'))).toEqual(withoutAddress(done));
    expect(await node.admin.find<Pod>(mirrorPath)).toMatchObject({ status: { phase: 'Running' } });
  });

  it('does what was asked for while it was away', async ({ node }) => {
    const script = "trap 'exit 0' TERM; while :; do sleep 0.1; done";
    for (const name of ['deleted', 'forced', 'kept', 'replaced']) await node.create({ name, containers: [{ script }] });
    const kept = await node.running('kept');
    const replaced = await node.running('replaced');
    await Promise.all([node.running('deleted'), node.running('forced')]);
    await node.kill('SIGKILL');
    await node.admin.remove(node.path('deleted'));
    await node.admin.remove(node.path('forced'), 0);
    await node.admin.remove(node.path('replaced'), 0);
    await node.gone('replaced');
    await node.create({ name: 'replaced', labels: { version: 'two' } });
    await node.create({ name: 'new' });
    // No process finishes this while the agent is away.
    expect((await node.admin.get<Pod>(node.path('deleted'))).metadata.deletionTimestamp).toBeDefined();
    await node.start();
    await node.gone('deleted');
    await node.running('new');
    expect(containerOf(await node.running('kept'))).toEqual(containerOf(kept));
    expect(containerOf(await node.running('replaced')).containerID).not.toBe(containerOf(replaced).containerID);
  });

  it('sees containers that have ended while it was away', async ({ node }) => {
    // They end when the test allows it, which it does while no agent runs.
    const until = 'until [ -e /tmp/end ]; do sleep 0.1; done;';
    await node.create({ name: 'ends', restartPolicy: 'Never', containers: [{ script: `${until} exit 7` }] });
    await node.create({ name: 'again', containers: [{ script: `${until} exit 8` }] });
    await Promise.all(['ends', 'again'].map((name) => node.running(name)));
    const containers = await Promise.all(['ends', 'again'].map((name) => node.containersNamed(name)));
    await node.kill('SIGKILL');
    for (const [newest] of containers) await node.letGo(newest?.id ?? '', '/tmp/end');
    await Promise.all(['ends', 'again'].map((name) => node.containerHasEnded(name)));
    await node.start();
    expect(containerOf(await node.ended('ends', 'Failed')).state?.terminated).toMatchObject({ exitCode: 7 });
    await node.shown('again', 'has been restarted', (pod) => {
      expect(containerOf(pod).restartCount).toBeGreaterThanOrEqual(1);
      expect(containerOf(pod).lastState?.terminated).toMatchObject({ exitCode: 8 });
    });
  });

  it('that is asked to end leaves its pods running and says so by its silence only', async ({ node }) => {
    await node.create({ name: 'stays' });
    const before = await node.running('stays');
    expect(await node.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect((await node.admin.get<Pod>(node.path('stays'))).status).toEqual(before.status);
    await node.start();
    expect(containerOf(await node.running('stays'))).toEqual(containerOf(before));
  });
};
// They take the agent away from each other.
overCluster('an agent', restarts, { alone: true });
