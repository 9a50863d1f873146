import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { expect } from 'vitest';
import { nodePath } from '../../src/model/kube-api/api-paths.js';
import { freeHostPort } from '../containerd/host-port.js';
import { eventually } from '../embedded/eventually.js';
import type { ClusterNode } from './cluster-node.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';
import { requestOf, sign } from './sign.js';

const NAME = 'certified';
const port = await freeHostPort();
const flags = ({ cluster }: ClusterNode): readonly string[] => [
  ...[
    '--port',
    String(port),
    '--client-ca-file',
    join(cluster.folder, 'pki', 'ca.crt'),
    '--rotate-server-certificates',
  ],
];
const it = onNode(NAME, flags);

/** The certificate of the kubelet API, which has to be one of the cluster's authority. Errors: it is not; the port is closed. */
const presented = ({ cluster }: ClusterNode, servername: string) =>
  new Promise<PeerCertificate>((resolve, reject) => {
    const ca = readFileSync(join(cluster.folder, 'pki', 'ca.crt'));
    const socket = connect({ host: '127.0.0.1', port, ca, servername }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    }).on('error', reject);
  });

overCluster('the serving certificate of a node', () => {
  it('is requested for its addresses, signed by the cluster, and outlives the agent', async ({ node }) => {
    const request = await requestOf(node.cluster, `system:node:${NAME}`);
    expect(request.spec).toMatchObject({
      signerName: 'kubernetes.io/kubelet-serving',
      usages: expect.arrayContaining(['digital signature', 'server auth']) as string[],
    });
    expect(node.log.includes('the kubelet API is served')).toBe(false);
    await expect(presented(node, NAME)).rejects.toThrow('ECONNREFUSED');

    await sign(node.cluster, request, 3_600);
    await eventually('the kubelet API is served', () => node.log.includes('the kubelet API is served'));
    const first = await presented(node, NAME);
    expect(first.subject).toMatchObject({ O: 'system:nodes', CN: `system:node:${NAME}` });
    const { status } = (await node.node())!;
    const ip = status.addresses?.find(({ type }) => type === 'InternalIP')?.address;
    expect(first.subjectaltname).toBe(`DNS:${NAME}, IP Address:${ip}`);
    await expect(presented(node, 'another')).rejects.toThrow("does not match certificate's altnames");
    expect(await node.admin.ask('GET', `${nodePath(NAME)}/proxy/healthz`)).toBe('ok');

    await node.kill('SIGKILL');
    await node.start(...flags(node));
    const second = await eventually('it is served again', () => presented(node, NAME));
    expect(second.fingerprint256).toBe(first.fingerprint256);
  });
});
