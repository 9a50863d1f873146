import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'vitest';
import { apiOverHttp } from '../embedded/api-over-http.js';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { joined } from '../embedded/joined.js';
import { manifest } from '../embedded/manifests.js';
import { asked, signer } from '../embedded/pod-certificate-signer.js';
import { BUSYBOX, it, WAIT } from './containerd-node.js';
import { overContainerd } from './missing.js';

const NAMESPACE = '/api/v1/namespaces/default';
const BUNDLES = '/apis/certificates.k8s.io/v1/clustertrustbundles';
/** Named like a static pod, so that its containers are found as theirs. */
const POD = `reader-${NODE_NAME}`;
const ROOTS = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const OTHER_ROOTS = ROOTS.replace('AAAA', 'BBBB');

const bundle = (trustBundle: string) => ({
  metadata: { name: 'example.com:mesh:roots' },
  spec: { signerName: 'example.com/mesh', trustBundle },
});
const projected = {
  token: { serviceAccountToken: { path: 'it', expirationSeconds: 600 } },
  trust: { clusterTrustBundle: { name: 'example.com:mesh:roots', path: 'it' } },
  tls: { podCertificate: { signerName: 'test/signer', keyType: 'ED25519', credentialBundlePath: 'it' } },
};

/** The API server is in this process: Debian's is older than trust bundles and certificates of pods. */
overContainerd('the credentials of a pod of a cluster', () => {
  it('belong to its only user inside, and a trust bundle follows its object', async ({ node }) => {
    const api = await apiOverHttp(NODE_NAME);
    node.beforeDispose(() => Promise.resolve(api.close()));
    const { server } = api;
    server.do({ method: 'POST', path: `${NAMESPACE}/serviceaccounts`, body: { metadata: { name: 'robot' } } });
    server.do({ method: 'POST', path: BUNDLES, body: bundle(ROOTS) });
    const { ca, sign } = signer(join(node.directory, 'signer'));
    await node.start('--kubeconfig', joined(node.directory, api.url), '--port', '0');
    const pod = manifest(node.directory, {
      ...{ name: POD, nodeName: NODE_NAME, serviceAccountName: 'robot' },
      securityContext: { runAsUser: 1234, runAsGroup: 1235 },
      containers: [
        {
          ...{ image: BUSYBOX, script: WAIT },
          volumeMounts: Object.keys(projected).map((name) => ({ name, mountPath: `/rx/${name}` })),
        },
      ],
      volumes: Object.entries(projected).map(([name, source]) => ({
        ...{ name, projected: { defaultMode: 0o644, sources: [source] } },
      })),
    });
    server.do({ method: 'POST', path: `${NAMESPACE}/pods`, body: JSON.parse(pod) as object });
    sign(api, await asked(api), 30 * 60_000);

    const { id } = await node.reached('reader', 'CONTAINER_RUNNING');
    const inside = (script: string): Promise<string> => node.exec(id, 'sh', '-c', `cd /rx; ${script}`);
    expect(await inside('id -u; stat -L -c "%a %u:%g %n" */it')).toBe(
      ['1234', '600 1234:0 tls/it', '600 1234:0 token/it', '600 1234:0 trust/it'].join('\n'),
    );
    expect((await inside('cat token/it')).length).toBeGreaterThan(0);
    expect(await inside('cat trust/it')).toBe(ROOTS.trimEnd());
    const credentials = await inside('cat tls/it');
    const certificate = new X509Certificate(credentials.slice(credentials.indexOf('-----BEGIN CERTIFICATE')));
    expect(certificate.verify(ca.publicKey)).toBe(true);

    server.do({ method: 'PUT', path: `${BUNDLES}/example.com:mesh:roots`, body: bundle(OTHER_ROOTS) });
    await eventually('the container reads the new bundle', async () => {
      expect(await inside('cat trust/it')).toBe(OTHER_ROOTS.trimEnd());
      return true;
    });
    expect((await node.reached('reader', 'CONTAINER_RUNNING')).id).toBe(id);
    server.do({ method: 'DELETE', path: `${NAMESPACE}/pods/${POD}` });
    await eventually('the pod is gone', () => server.list(`${NAMESPACE}/pods`).length === 0);
  });
});
