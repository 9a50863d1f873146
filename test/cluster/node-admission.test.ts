import { expect } from 'vitest';
import { nodePath } from '../../src/model/api/api-paths.js';
import { eventually } from '../embedded/eventually.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const it = onNode('picky', () => ['--register-with-taints', 'example.com/new=yes:NoSchedule']);

overCluster('a node', () => {
  it('has the taints that it was made with, which keep nobody out who is placed on it', async ({ node }) => {
    expect((await node.node())?.spec.taints?.map(({ key }) => key)).toContain('example.com/new');
    await node.create({ name: 'placed' });
    await node.ready('placed');
  });

  it('lets a pod in that was placed for a label which it has only just got', async ({ node }) => {
    // Pods and labels come by different watches: whichever is first, the pod is not rejected.
    for (const zone of ['a', 'b', 'c', 'd', 'e']) {
      await node.admin.patch(nodePath('picky'), { metadata: { labels: { 'example.com/zone': zone } } });
      await node.create({ name: `in-${zone}`, nodeSelector: { 'example.com/zone': zone } });
    }
    for (const zone of ['a', 'b', 'c', 'd', 'e']) await node.ready(`in-${zone}`);
  });

  it('keeps pods out that do not tolerate what nobody may run beside', async ({ node }) => {
    await node.admin.patch(nodePath('picky'), { spec: { taints: [{ key: 'example.com/fire', effect: 'NoExecute' }] } });
    let count = 0;
    const name = await eventually('pods are rejected', async () => {
      const next = `burnt-${++count}`;
      await node.create({ name: next });
      const { status } = await eventually('it has a phase of its own', async () => {
        const pod = await node.pod(next);
        return pod?.status?.startTime === undefined ? undefined : pod;
      });
      return status?.phase === 'Failed' ? next : undefined;
    });
    expect((await node.pod(name))?.status).toMatchObject({
      reason: 'TaintToleration',
      message: "Pod was rejected: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    });
    await node.create({ name: 'fireproof', tolerations: [{ key: 'example.com/fire', operator: 'Exists' }] });
    await node.ready('fireproof');
  });
});
