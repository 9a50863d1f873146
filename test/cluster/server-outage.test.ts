import { expect } from 'vitest';
import type { Pod } from '../../src/model/pod/pod.js';
import { eventually } from '../embedded/eventually.js';
import { containerOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { itOnOwnServer } from './own-server.js';

const it = itOnOwnServer('cut-off');

const CRASHING = 'sleep 1; exit 1';

const outages = (): void => {
  it('lets everything go on, and receives all of it afterwards', async ({ node }) => {
    await node.create({ name: 'steady' });
    await node.create({
      name: 'job',
      restartPolicy: 'Never',
      containers: [{ script: 'while [ ! -e /tmp/end ]; do sleep 0.1; done; exit 5' }],
    });
    await node.create({ name: 'crashing', containers: [{ script: CRASHING }] });
    // It stops when it is asked to and allowed to.
    const stop = "trap 'touch /tmp/asked; until [ -e /tmp/end ]; do sleep 0.1; done; exit 0' TERM";
    await node.create({
      name: 'deleted',
      terminationGracePeriodSeconds: 3_600,
      containers: [{ script: `${stop}; while :; do sleep 0.1; done` }],
    });
    const steady = await node.running('steady');
    const [job, deleted] = await Promise.all(['job', 'deleted'].map((name) => node.running(name)));
    const { restartCount } = containerOf(
      await node.shown('crashing', 'has started', ({ status }) => status?.phase === 'Running'),
    );
    // The server goes while the pod is going: a server that is killed sooner may not have sent the deletion to the agent.
    await node.admin.remove(node.path('deleted'));
    await eventually('the pod is going', () => node.exec(idOf(deleted), 'test', '-e', '/tmp/asked'));
    await node.cluster.outage(async () => {
      for (const pod of [job, deleted]) await node.letGo(idOf(pod), '/tmp/end');
      await Promise.all([node.containerHasEnded('job'), node.containerHasEnded('deleted')]);
      await node.restarted('crashing', restartCount + 2);
    });
    expect(containerOf(await node.ended('job', 'Failed')).state?.terminated).toMatchObject({ exitCode: 5 });
    await node.gone('deleted');
    await node.shown('crashing', 'is reported to have crashed', (pod) => {
      expect(containerOf(pod).restartCount).toBeGreaterThanOrEqual(restartCount + 2);
    });
    expect(containerOf(await node.running('steady'))).toEqual(containerOf(steady));
    // It receives new changes again.
    await node.create({ name: 'after-outage' });
    await node.running('after-outage');
  });

  it('may come again and again while pods change', async ({ node }) => {
    const wanted = new Set<string>();
    for (const round of [1, 2]) {
      for (const half of ['a', 'b']) {
        const name = `r${round}${half}`;
        await node.create({ name });
        wanted.add(name);
      }
      if (round > 1) {
        await node.admin.remove(node.path('r1a'));
        wanted.delete('r1a');
      }
      // In the middle of all of it.
      await node.cluster.outage();
    }
    await node.gone('r1a');
    for (const name of wanted) expect(containerOf(await node.running(name)).restartCount, name).toBe(0);
    await eventually('the node is ready', async () => (await node.ready()) === 'True');
  });

  it('does not make an agent forget its pods that is started meanwhile', async ({ node }) => {
    await node.create({ name: 'kept' });
    await node.create({ name: 'kept-crashing', containers: [{ script: CRASHING }] });
    const kept = await node.running('kept');
    await node.shown('kept-crashing', 'has started', ({ status }) => status?.phase === 'Running');
    await node.remembers('kept', 'kept-crashing');
    let restarts = 0;
    await node.cluster.outage(async () => {
      await node.kill('SIGKILL');
      await node.startAway();
      // It runs what it last knew of, restarts included.
      const [newest] = await node.containersNamed('kept-crashing');
      restarts = (newest?.attempt ?? 0) + 2;
      await node.restarted('kept-crashing', restarts);
    });
    expect(containerOf(await node.running('kept'))).toEqual(containerOf(kept));
    await node.shown(
      'kept-crashing',
      'is reported to have crashed',
      (pod: Pod) => containerOf(pod).restartCount >= restarts,
    );
    await node.create({ name: 'after-start' });
    await node.running('after-start');
  });
};
// They take the server away from each other.
overCluster('an outage of the API server', outages, { alone: true });

const idOf = (pod: Pod | undefined): string =>
  (pod ? (containerOf(pod).containerID ?? '') : '').replace('containerd://', '');
