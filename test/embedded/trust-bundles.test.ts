import { describe, expect } from 'vitest';
import { apiOverHttp } from './api-over-http.js';
import { type Daemon, isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { joined } from './joined.js';
import { manifest } from './manifests.js';

const BUNDLES = '/apis/certificates.k8s.io/v1/clustertrustbundles';
const PODS = '/api/v1/namespaces/default/pods';
const EVENTS = '/api/v1/namespaces/default/events';
/** Named like a static pod, so that its containers are found as theirs. */
const POD = `reader-${NODE_NAME}`;
const pem = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
const bundle = (...certificates: readonly string[]) => ({
  metadata: { name: 'example.com:mesh:roots', labels: { stage: 'live' } },
  spec: { signerName: 'example.com/mesh', trustBundle: certificates.map((one) => `# ${one}\n${pem(one)}`).join('') },
});
const sources = [
  { clusterTrustBundle: { name: 'example.com:mesh:roots', path: 'by-name.pem' } },
  {
    clusterTrustBundle: {
      ...{ signerName: 'example.com/mesh', path: 'by-signer.pem' },
      labelSelector: { matchLabels: { stage: 'live' } },
    },
  },
  { clusterTrustBundle: { name: 'none', path: 'none.pem', optional: true } },
];

/** An agent in a cluster whose API server is in this process, with a pod that projects trust bundles. */
const agentOf = async (daemon: Daemon, isServed: boolean) => {
  const api = await apiOverHttp(NODE_NAME);
  daemon.beforeDispose(() => Promise.resolve(api.close()));
  const { server } = api;
  server.do({ method: 'POST', path: BUNDLES, body: bundle('AAAA', 'BBBB', 'AAAA') });
  server.serve('clustertrustbundles', isServed);
  await daemon.start('--kubeconfig', joined(daemon.directory, api.url), '--port', '0');
  const pod = manifest(daemon.directory, {
    ...{ name: POD, nodeName: NODE_NAME, securityContext: { runAsUser: 1234, fsGroup: 2345 } },
    containers: [{ volumeMounts: [{ name: 'trust', mountPath: '/rx/trust' }] }],
    volumes: [{ name: 'trust', projected: { defaultMode: 0o644, sources } }],
  });
  server.do({ method: 'POST', path: PODS, body: JSON.parse(pod) as object });
  return server;
};

describe.runIf(isRoot).concurrent('the trust bundles of a cluster', () => {
  it('are files of the container, follow their objects, and are not watched after the pod', async ({ daemon }) => {
    const server = await agentOf(daemon, true);
    const { id } = await daemon.reached('reader', 'CONTAINER_RUNNING');
    const inside = async (script: string): Promise<string> => {
      const cmd = ['/bin/sh', '-c', `cd /rx/trust; ${script}`];
      const { stdout } = await daemon.ask((runtime) => runtime.execSync({ containerId: id, cmd, timeout: 20n }));
      return Buffer.from(stdout).toString();
    };
    const both = pem('AAAA') + pem('BBBB');
    expect(await inside('cat by-name.pem')).toBe(both);
    expect(await inside('cat by-signer.pem')).toBe(both);
    expect(await inside("stat -L -c '%a %u:%g %s %n' *")).toBe(
      [
        `640 1234:2345 ${both.length} by-name.pem`,
        `640 1234:2345 ${both.length} by-signer.pem`,
        '640 1234:2345 0 none.pem',
        '',
      ].join('\n'),
    );
    const watching = server.openWatches();
    server.do({ method: 'PUT', path: `${BUNDLES}/example.com:mesh:roots`, body: bundle('CCCC') });
    await eventually('the container reads the new certificate', async () => {
      expect(await inside('cat by-name.pem by-signer.pem')).toBe(pem('CCCC') + pem('CCCC'));
      return true;
    });
    server.do({ method: 'DELETE', path: `${PODS}/${POD}` });
    await eventually('the pod is gone, and the watch', () => {
      expect(server.list(PODS)).toEqual([]);
      expect(server.openWatches()).toBeLessThan(watching);
      return true;
    });
  });

  it('are refused with a reason where the API server has none', async ({ daemon }) => {
    const server = await agentOf(daemon, false);
    const reason = 'the API server has no clustertrustbundles.certificates.k8s.io in a version that this agent reads';
    await eventually('an event says why the pod does not start', () => {
      const said = server.list(EVENTS).map((event) => JSON.stringify(event));
      expect(said.find((event) => event.includes('FailedMount'))).toContain(
        `MountVolume.SetUp failed for volume \\"trust\\" : ClusterTrustBundle projection is not supported: ${reason}`,
      );
      return true;
    });
    const { stdout } = await daemon.run('why', POD, '--root-dir', daemon.rootDir);
    expect(stdout).toMatch(new RegExp(`the volume trust is not mounted for .*: .*${reason}`));
    expect(await daemon.containersOf('reader')).toEqual([]);
  });
});
