import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { secretsPath } from '../../src/model/kube-api/api-paths.js';
import { eventually } from '../embedded/eventually.js';
import type { Cluster } from './cluster.js';
import { ClusterNode } from './cluster-node.js';
import { overCluster } from './missing.js';
import { sharedCluster } from './one-node.js';
import { requestOf, sign } from './sign.js';

const NAME = 'newcomer';
const TOKEN = { id: 'abcdef', secret: '0123456789abcdef' };
/** Of the first certificate: the next one is asked for when 70 to 90 % of it have gone by. */
const SHORT_SECONDS = 90;

overCluster('an agent with nothing but a bootstrap token', () => {
  it('becomes a node, and stays one when its certificate ends', { timeout: 420_000 }, async () => {
    const cluster = await sharedCluster();
    const { id, secret } = TOKEN;
    // The server itself makes the namespace, soon after its start.
    await eventually('there may be bootstrap tokens', () =>
      cluster.admin.create(secretsPath('kube-system'), {
        metadata: { name: `bootstrap-token-${id}` },
        type: 'bootstrap.kubernetes.io/token',
        stringData: { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true' },
      }),
    );
    const node = new ClusterNode(cluster, NAME, async ({ directory }) => {
      const path = join(directory, 'bootstrap.kubeconfig');
      writeFileSync(path, JSON.stringify(bootstrapKubeconfig(cluster)));
      return ['--bootstrap-kubeconfig', path, '--kubeconfig', join(directory, 'kubeconfig'), '--rotate-certificates'];
    });
    try {
      await node.startRuntime();
      await cluster.namespace(NAME);
      await node.startAway();
      const first = await requestOf(cluster, `system:bootstrap:${id}`);
      expect(first.spec).toMatchObject({
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: expect.arrayContaining(['digital signature', 'client auth']) as string[],
      });
      const endsAt = Date.now() + SHORT_SECONDS * 1_000;
      await sign(cluster, first, SHORT_SECONDS);
      await eventually('it is a node', async () => (await node.ready()) === 'True');
      await eventually('its kubeconfig is written', () => existsSync(join(node.directory, 'kubeconfig')));
      await node.create({ name: 'early' });
      await node.running('early');

      const second = await requestOf(cluster, `system:node:${NAME}`, SHORT_SECONDS * 1_000 + 120_000);
      expect(second.metadata.name).not.toBe(first.metadata.name);
      await sign(cluster, second, 3_600);
      await eventually('the first certificate has ended', () => Date.now() > endsAt, SHORT_SECONDS * 1_000 + 60_000);
      // Neither on old connections nor with the old certificate.
      await node.kill('SIGKILL');
      await node.start();
      await node.create({ name: 'late' });
      await node.running('late');
    } finally {
      await node.dispose();
      cluster.close();
    }
  });
});

const bootstrapKubeconfig = (cluster: Cluster): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'stage',
  clusters: [
    {
      name: 'stage',
      cluster: {
        server: cluster.address,
        'certificate-authority-data': Buffer.from(cluster.credentials('admin').ca).toString('base64'),
      },
    },
  ],
  users: [{ name: 'stage', user: { token: `${TOKEN.id}.${TOKEN.secret}` } }],
  contexts: [{ name: 'stage', context: { cluster: 'stage', user: 'stage' } }],
});
