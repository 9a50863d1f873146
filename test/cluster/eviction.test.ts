import { totalmem } from 'node:os';
import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import type { Pod } from '../../src/model/pod/pod.js';
import { eventually } from '../embedded/eventually.js';
import { WAIT } from '../containerd/containerd-node.js';
import { type ApiEvent, type ApiPodOf, type ClusterNode, conditionOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const NODE = 'short';
const MEBI = 2 ** 20;
/** The memory that the pods of the node may have together, and the space of its root directory. */
const [PODS_MEBI, DISK_MEBI] = [256, 64];

/** A node with a small disk, and with little memory for its pods. */
const it = onNode(NODE, (node) => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MEBI}m,mode=755`, 'small-disk', node.rootDir]);
  node.fields = {
    systemReserved: { memory: String(totalmem() - PODS_MEBI * MEBI) },
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '24Mi' },
    evictionPressureTransitionPeriod: '30s',
  };
  return [];
});

type EmptyDir = NonNullable<NonNullable<ApiPodOf['volumes']>[number]['emptyDir']>;

/** A pod that fills its emptyDir with `mebibytes`, and waits. */
const writing = (name: string, mebibytes: number, emptyDir: EmptyDir = {}): ApiPodOf => ({
  name,
  volumes: [{ name: 'data', emptyDir }],
  containers: [
    {
      script: `dd if=/dev/zero of=/data/fill bs=1048576 count=${mebibytes} 2>/dev/null; ${WAIT}`,
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    },
  ],
});

const evicted = async (node: ClusterNode, name: string): Promise<Pod> => {
  const pod = await node.ended(name, 'Failed');
  expect(pod.status?.reason).toBe('Evicted');
  await node.containerHasEnded(name);
  return pod;
};
const hasCondition = (node: ClusterNode, type: string, status: string): Promise<unknown> =>
  eventually(`${type} is ${status}`, async () => {
    const found = (await node.node())?.status.conditions.find((condition) => condition.type === type);
    return found?.status === status;
  });
const nodeEvents = (node: ClusterNode): Promise<readonly ApiEvent[]> =>
  node.admin.list<ApiEvent>('/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DNode');

overCluster(
  'a node that is short of a resource',
  () => {
    it('evicts a pod whose emptyDir exceeds its size, which has failed for good, and no other pod', async ({
      node,
    }) => {
      await Promise.all([
        node.create(writing('over', 3, { sizeLimit: '1Mi' })),
        node.create(writing('within', 3, { sizeLimit: '10Mi' })),
      ]);
      await node.running('within');
      const { status, metadata } = await evicted(node, 'over');
      const message = 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ';
      expect(status).toMatchObject({ phase: 'Failed', reason: 'Evicted', message });
      expect(conditionOf({ status, metadata } as Pod, 'DisruptionTarget')).toBeUndefined();
      await eventually('the event is there', async () =>
        (await node.eventsOf(metadata.uid)).some((event) => event.reason === 'Evicted' && event.message === message),
      );
      expect((await node.running('within')).status?.containerStatuses?.[0]?.restartCount).toBe(0);
      await node.admin.remove(node.path('within'));
      await node.gone('within');
    });

    it('evicts the pod that takes most of its disk, rejects new pods while its condition is true, and takes them again after it', async ({
      node,
    }) => {
      await Promise.all([node.create(writing('hungry', 48)), node.create(writing('modest', 1))]);
      await node.running('modest');
      await hasCondition(node, 'DiskPressure', 'True');
      // The condition lasts for 30 s, so the next pod comes first.
      await node.create({ name: 'late' });
      const hungry = await evicted(node, 'hungry');
      expect(hungry.status?.message).toMatch(
        /^The node was low on resource: ephemeral-storage\. Threshold quantity: 24Mi, available: \d+Ki\. /,
      );
      expect(conditionOf(hungry, 'DisruptionTarget')).toBe('True');
      const late = await node.ended('late', 'Failed');
      expect(late.status).toMatchObject({
        reason: 'Evicted',
        message: 'Pod was rejected: The node had condition: [DiskPressure]. ',
      });
      expect((await nodeEvents(node)).map(({ reason, message }) => `${reason} ${message}`)).toEqual(
        expect.arrayContaining(['EvictionThresholdMet Attempting to reclaim ephemeral-storage']),
      );
      await hasCondition(node, 'DiskPressure', 'False');
      await node.create({ name: 'later' });
      await node.running('later');
      expect((await node.running('modest')).status?.containerStatuses?.[0]?.restartCount).toBe(0);
      const reasons = node.journal().flatMap((entry) => (entry.kind === 'kill-requested' ? [entry.reason] : []));
      expect(reasons.at(-1)).toMatch(
        /^the node is short of ephemeral-storage \(nodefs\.available: \d+Ki available, less than 24Mi\); the pod ranks first of 2, the next one would be modest_/,
      );
    });

    it('evicts the pod that takes most of the memory of all pods before the kernel ends one', async ({ node }) => {
      await node.create(writing('eater', 190, { medium: 'Memory' }));
      await hasCondition(node, 'MemoryPressure', 'True');
      const eater = await evicted(node, 'eater');
      expect(eater.status?.message).toMatch(
        /^The node was low on resource: memory\. Threshold quantity: 100Mi, available: \d+Ki\. Container main was using \d+Ki, request is 0, has larger consumption of memory\. $/,
      );
      await hasCondition(node, 'MemoryPressure', 'False');
      expect((await node.running('modest')).status?.containerStatuses?.[0]?.restartCount).toBe(0);
    });
  },
  { alone: true },
);
