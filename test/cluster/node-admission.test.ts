import { expect } from 'vitest';
import { nodePath } from '../../src/model/kube-api/api-paths.js';
import { eventually } from '../embedded/eventually.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const it = onNode('picky', () => ['--register-with-taints', 'example.com/new=yes:NoSchedule']);

overCluster('a node', () => {
  // One test, since tests of a file run side by side and these change the node.
  it('lets pods in by its labels and taints', async ({ node }) => {
    expect((await node.node())?.spec.taints?.map(({ key }) => key)).toContain('example.com/new');

    // Pods and labels come by different watches: whichever is first, the pod is not rejected.
    const letters = ['a', 'b', 'c', 'd', 'e'];
    for (const letter of letters) {
      const labels = { [`example.com/${letter}`]: 'yes' };
      await node.admin.patch(nodePath('picky'), { metadata: { labels } });
      await node.create({ name: `wants-${letter}`, nodeSelector: labels });
    }
    for (const letter of letters) await node.running(`wants-${letter}`);

    await node.admin.patch(nodePath('picky'), { spec: { taints: [{ key: 'example.com/fire', effect: 'NoExecute' }] } });
    let count = 0;
    const rejected = await eventually('pods are rejected', async () => {
      const name = `burnt-${++count}`;
      await node.create({ name });
      const pod = await node.shown(name, 'is let in or not', ({ status }) => status?.startTime !== undefined);
      return pod.status?.phase === 'Failed' ? pod : undefined;
    });
    expect(rejected.status).toMatchObject({
      reason: 'TaintToleration',
      message: "Pod was rejected: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    });
    await node.create({ name: 'fireproof', tolerations: [{ key: 'example.com/fire', operator: 'Exists' }] });
    await node.running('fireproof');
  });
});
