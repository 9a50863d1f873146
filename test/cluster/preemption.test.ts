import { cpus } from 'node:os';
import { expect } from 'vitest';
import type { Pod } from '../../src/model/pod/pod.js';
import { WAIT } from '../containerd/containerd-node.js';
import { eventually } from '../embedded/eventually.js';
import { type ApiPodOf, type ClusterNode, conditionOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const NODE = 'full';

/** A node with one CPU for its pods. */
const it = onNode(NODE, (node) => {
  node.fields = { systemReserved: { cpu: String(cpus().length - 1) }, evictionHard: { 'memory.available': '0%' } };
  return [];
});

/** Ends at once when asked to, and says when. */
const requesting = (name: string, cpu: string, isGuaranteed = false): ApiPodOf => {
  const amounts = { cpu, memory: '16Mi' };
  const resources = { requests: amounts, ...(isGuaranteed && { limits: amounts }) };
  return { name, containers: [{ resources, script: WAIT }] };
};

/** The pods of upstream's test: one of each class. */
const create = (node: ClusterNode): Promise<unknown> =>
  Promise.all([
    node.create(requesting('guaranteed', '300m', true)),
    node.create(requesting('burstable', '600m')),
    node.create({ name: 'best-effort' }),
  ]);

overCluster(
  'a node without room',
  () => {
    it('stops the least important pod that has what a critical one lacks, and starts that once it has stopped', async ({
      node,
    }) => {
      await create(node);
      await Promise.all(['guaranteed', 'burstable', 'best-effort'].map((name) => node.running(name)));
      node.apply({ name: 'dns', containers: [{ resources: { requests: { cpu: '500m' } } }] });
      const burstable = await node.ended('burstable', 'Failed');
      expect(burstable.status).toMatchObject({
        reason: 'Preempting',
        message: 'Preempted in order to admit critical pod',
      });
      expect(conditionOf(burstable, 'DisruptionTarget')).toBe('True');
      const mirror = `/api/v1/namespaces/default/pods/dns-${NODE}`;
      const dns = await eventually('the static pod runs', async () => {
        const pod = await node.admin.find<Pod>(mirror);
        return pod?.status?.phase === 'Running' ? pod : undefined;
      });
      const startedAt = Date.parse(dns.status?.containerStatuses?.[0]?.state?.running?.startedAt ?? '');
      const endedAt = Date.parse(burstable.status?.containerStatuses?.[0]?.state?.terminated?.finishedAt ?? '');
      expect(startedAt).toBeGreaterThanOrEqual(endedAt);
      await eventually('the event is there', async () =>
        (await node.eventsOf(burstable.metadata.uid)).some(
          ({ reason, type, message }) =>
            reason === 'Preempting' && type === 'Warning' && message === 'Preempted in order to admit critical pod',
        ),
      );
      for (const name of ['guaranteed', 'best-effort'])
        expect((await node.running(name)).status?.containerStatuses?.[0]?.restartCount).toBe(0);
    });

    it('rejects an ordinary pod for which there is no room, and a critical one if no other pods have enough', async ({
      node,
    }) => {
      await node.create(requesting('late', '300m'));
      expect((await node.ended('late', 'Failed')).status?.reason).toBe('OutOfcpu');
      node.apply({ name: 'large', containers: [{ resources: { requests: { cpu: '900m' } } }] });
      const large = await eventually('the static pod is rejected', async () => {
        const pod = await node.admin.find<Pod>(`/api/v1/namespaces/default/pods/large-${NODE}`);
        return pod?.status?.phase === 'Failed' ? pod : undefined;
      });
      expect(large.status).toMatchObject({
        reason: 'UnexpectedAdmissionError',
        message:
          'Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 400), ]',
      });
      expect((await node.running('guaranteed')).status?.containerStatuses?.[0]?.restartCount).toBe(0);
    });

    it('goes on after a kill of the agent, while a pod takes its time to make room', async ({ node }) => {
      const slow = requesting('slow', '200m');
      const script = 'trap "sleep 6; exit 0" TERM; while true; do sleep 0.1; done';
      await node.create({
        ...slow,
        terminationGracePeriodSeconds: 20,
        containers: [{ ...slow.containers![0], script }],
      });
      await node.running('slow');
      node.apply({ name: 'log', containers: [{ resources: { requests: { cpu: '200m' } } }] });
      await eventually('a stop was requested', () =>
        node.journal().some((entry) => entry.kind === 'kill-requested' && entry.pod?.name === 'slow'),
      );
      await node.kill('SIGKILL');
      await node.start();
      await node.ended('slow', 'Failed');
      const log = await eventually('the static pod runs', async () => {
        const pod = await node.admin.find<Pod>(`/api/v1/namespaces/default/pods/log-${NODE}`);
        return pod?.status?.phase === 'Running' ? pod : undefined;
      });
      // The agent may have its manifests before the pods of the API, and then has no room for the one that was stopped.
      expect((await node.ended('slow', 'Failed')).status?.reason).toMatch(/^(Preempting|OutOfcpu)$/);
      await node.containerHasEnded('slow');
      expect(log.status?.containerStatuses?.[0]?.restartCount).toBe(0);
    });
  },
  { alone: true },
);
