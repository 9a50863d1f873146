import { expect, it as baseIt } from 'vitest';
import { secretsPath } from '../../src/model/kube-api/api-paths.js';
import { keepLog } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { silentRelay, type SilentRelay } from '../support/silent-relay.js';
import { ClusterNode, type ApiPodOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { sharedCluster } from './one-node.js';

const NODE = 'one-connection';
const PODS = 40;
const RUNNING_MS = 240_000;

interface Stage {
  readonly node: ClusterNode;
  readonly relay: SilentRelay;
}

/** `it` with a node whose agent reaches the API server through a relay, for all tests of the file. */
const it = baseIt.extend<{ readonly own: Stage; readonly stage: Stage }>({
  own: [
    async ({}, use) => {
      const cluster = await sharedCluster();
      const relay = await silentRelay(Number(new URL(cluster.address).port));
      const node = new ClusterNode(cluster, NODE, async () => [
        '--kubeconfig',
        await cluster.kubeconfig(NODE, `https://127.0.0.1:${relay.port}`),
      ]);
      try {
        await node.startRuntime();
        await node.start();
        await use({ node, relay });
      } finally {
        await node.dispose();
        relay.close();
        cluster.close();
      }
    },
    { scope: 'file' },
  ],
  stage: async ({ own, task, onTestFailed }, use) => {
    onTestFailed(() => keepLog(task, own.node));
    await use(own);
  },
});

/** A pod with a Secret of its own, whose value it waits for in its file. */
const podWithSecret = (name: string, value: string): ApiPodOf => ({
  name,
  volumes: [{ name: 'secret', secret: { secretName: name } }],
  containers: [
    {
      script: `until [ "$(cat /secret/word)" = ${value} ]; do sleep 0.1; done; touch /tmp/${value}; while :; do sleep 0.5; done`,
      volumeMounts: [{ name: 'secret', mountPath: '/secret' }],
    },
  ],
});

const connections = (): void => {
  it(
    'are one or two with forty pods that have a Secret each',
    async ({ stage: { node, relay } }) => {
      const names = Array.from({ length: PODS }, (_, index) => `secret-${index}`);
      for (const name of names) {
        await node.admin.create(secretsPath(NODE), { metadata: { name }, data: { word: btoa('first') } });
        await node.create(podWithSecret(name, 'first'));
      }
      await Promise.all(names.map((name) => eventually(`${name} runs`, () => node.running(name), RUNNING_MS)));
      expect(relay.open()).toBeLessThanOrEqual(2);
    },
    2 * RUNNING_MS,
  );

  it(
    'that die silently are found dead by a ping, so that a new pod starts',
    async ({ stage: { node, relay } }) => {
      await node.create({ name: 'before' });
      await node.running('before');
      const opened = relay.opened();
      const since = node.log.length;
      relay.silence();
      await node.create({ name: 'after' });
      await node.running('after');
      expect(relay.opened()).toBeGreaterThan(opened);
      expect(node.log.slice(since)).toContain('no answer to a ping within 5 s');
    },
    2 * RUNNING_MS,
  );
};

overCluster('the connections to the API server', connections, { alone: true });
