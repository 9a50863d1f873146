import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { nodePath } from '../../src/model/kube-api/api-paths.js';
import { freeHostPort } from '../containerd/host-port.js';
import { eventually } from '../embedded/eventually.js';
import type { ClusterNode } from './cluster-node.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const NAME = 'served';
const port = await freeHostPort();
const it = onNode(NAME, ({ cluster }) => [
  ...['--port', String(port), '--client-ca-file', join(cluster.folder, 'pki', 'ca.crt')],
]);

interface Presents {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The first start makes a key, which takes a while. */
const served = (node: ClusterNode): boolean => node.log.includes('the kubelet API is served');

/** Sends a request to the node itself, whose certificate it verifies. */
const ask = (node: ClusterNode, path: string, { token, cert, key }: Presents = {}) =>
  new Promise<{ readonly status: number | undefined; readonly body: string }>((resolve, reject) => {
    const ca = readFileSync(join(node.rootDir, 'pki', 'kubelet.crt'));
    request(
      {
        ...{ host: '127.0.0.1', port, path, ca, cert, key, servername: NAME, agent: new Agent() },
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      },
      (response) => void text(response).then((body) => resolve({ status: response.statusCode, body }), reject),
    )
      .on('error', reject)
      .end();
  });

/** The token of a new service account in the namespace of the node. */
const tokenOf = async ({ admin }: ClusterNode, name: string): Promise<string> => {
  const accounts = `/api/v1/namespaces/${NAME}/serviceaccounts`;
  await admin.create(accounts, { metadata: { name } });
  const { status } = (await admin.ask('POST', `${accounts}/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {},
  })) as { readonly status: { readonly token: string } };
  return status.token;
};

overCluster('the kubelet API', () => {
  it('gives metrics to an account that may read them, and nothing to others', async ({ node }) => {
    await eventually('the kubelet API is served', () => served(node));
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await node.admin.create(`${rbac}/clusterroles`, {
      metadata: { name: 'scrapes-nodes' },
      rules: [{ apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] }],
    });
    await node.admin.create(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'scrapes-nodes' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'scrapes-nodes' },
      subjects: [{ kind: 'ServiceAccount', name: 'scraper', namespace: NAME }],
    });
    const [scraper, guest] = await Promise.all(['scraper', 'guest'].map((name) => tokenOf(node, name)));
    const metrics = await ask(node, '/metrics', { token: scraper! });
    expect(metrics.status).toBe(200);
    expect(metrics.body).toContain(`kubelet_node_name{node="${NAME}"} 1`);
    const user = (name: string): string => `user=system:serviceaccount:${NAME}:${name}`;
    expect(await ask(node, '/pods', { token: scraper! })).toEqual({
      status: 403,
      body: `Forbidden (${user('scraper')}, verb=get, resource=nodes, subresource(s)=[pods proxy])\n`,
    });
    expect(await ask(node, '/metrics', { token: guest! })).toEqual({
      status: 403,
      body: `Forbidden (${user('guest')}, verb=get, resource=nodes, subresource(s)=[metrics])\n`,
    });
    expect(await ask(node, '/metrics', { token: `${scraper}x` })).toEqual({ status: 401, body: 'Unauthorized' });
    expect(await ask(node, '/metrics')).toEqual({ status: 401, body: 'Unauthorized' });
  });

  it('accepts certificates of the cluster by what their users may', async ({ node }) => {
    await eventually('the kubelet API is served', () => served(node));
    const { cert, key } = node.cluster.credentials('admin');
    const { status, body } = await ask(node, '/configz', { cert, key });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ kubeletconfig: { kind: 'KubeletConfiguration', port } });
    // A node may not read itself this way.
    const own = node.cluster.credentials(`node-${NAME}`);
    expect((await ask(node, '/configz', own)).status).toBe(403);
  });

  it('is reached through the API server, by the port of its Node', async ({ node }) => {
    await eventually('the kubelet API is served', () => served(node));
    const { status } = (await node.node())!;
    expect(status.daemonEndpoints).toEqual({ kubeletEndpoint: { Port: port } });
    const proxied = async (path: string) => node.admin.ask('GET', `${nodePath(NAME)}/proxy${path}`);
    expect(await proxied('/metrics')).toContain(`kubelet_node_name{node="${NAME}"} 1`);
    expect(await proxied('/healthz')).toBe('ok');
    await node.create({ name: 'shown' });
    await node.running('shown');
    const { items } = (await proxied('/runningpods/')) as { readonly items: readonly unknown[] };
    expect(items).toContainEqual({
      metadata: { name: 'shown', namespace: NAME, uid: expect.any(String) as string },
      spec: { containers: [{ name: 'main', image: expect.stringContaining('busybox') as string }] },
      status: {},
    });
  });
});
