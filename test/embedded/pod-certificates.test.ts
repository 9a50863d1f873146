import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { eventsPath, podCertificateRequestsPath } from '../../src/model/kube-api/api-paths.js';
import { type ApiOverHttp, apiOverHttp } from './api-over-http.js';
import { type Daemon, isRoot, it as itWithDaemon, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { joined } from './joined.js';
import { manifest, SLEEP } from './manifests.js';
import { asked, requests, signer } from './pod-certificate-signer.js';
import { expectSame } from './replays.js';

const MINUTE = 60_000;
const DEFAULT = '/api/v1/namespaces/default';
/** The name under which the tests find the containers of `web`. */
const POD = `web-${NODE_NAME}`;
/** The agent looks at a certificate every one to two minutes. */
const RENEWED_MS = 4 * MINUTE;

const it = itWithDaemon.extend<{ readonly api: ApiOverHttp }>({
  api: async ({}, use) => {
    const api = await apiOverHttp(NODE_NAME);
    api.server.do({ method: 'POST', path: `${DEFAULT}/serviceaccounts`, body: { metadata: { name: 'robot' } } });
    await use(api);
    api.close();
  },
});

/** The events of pods at the API server, as `<reason>: <message>`. */
const saidOf = ({ server }: ApiOverHttp): readonly string[] =>
  (server.list(eventsPath('default')) as unknown as readonly Readonly<Record<string, string>>[]).map(
    ({ reason, message }) => `${reason}: ${message}`,
  );

/** Creates a pod with a certificate in its volume `tls`, and starts an agent for it; returns the arguments of the agent. */
const start = async (
  daemon: Daemon,
  { server, url }: ApiOverHttp,
  ...more: readonly string[]
): Promise<readonly string[]> => {
  const pod = JSON.parse(
    manifest(daemon.directory, {
      name: POD,
      nodeName: NODE_NAME,
      serviceAccountName: 'robot',
      terminationGracePeriodSeconds: 1,
      containers: [{ script: SLEEP, volumeMounts: [{ name: 'tls', mountPath: '/rx/tls' }] }],
      volumes: [
        {
          name: 'tls',
          projected: {
            defaultMode: 0o440,
            sources: [
              {
                podCertificate: {
                  ...{ signerName: 'test/signer', keyType: 'ECDSAP384', maxExpirationSeconds: 7200 },
                  credentialBundlePath: 'bundle.pem',
                },
              },
            ],
          },
        },
      ],
    }),
  ) as unknown;
  server.do({ method: 'POST', path: `${DEFAULT}/pods`, body: pod });
  const args = ['--kubeconfig', joined(daemon.directory, url), '--port', '0', ...more];
  await daemon.start(...args);
  return args;
};

/** What the running container reads. */
const bundleOf = async (daemon: Daemon): Promise<string> => {
  const { id } = await daemon.reached('web', 'CONTAINER_RUNNING');
  const { stdout } = await daemon.ask((runtime) =>
    runtime.execSync({
      ...{ containerId: id, timeout: 20n },
      cmd: ['/bin/sh', '-c', 'stat -L -c %a /rx/tls/bundle.pem; cat /rx/tls/bundle.pem'],
    }),
  );
  return Buffer.from(stdout).toString();
};

describe.runIf(isRoot).concurrent('a certificate of a pod', () => {
  it(
    'is in the container when it starts, and is replaced there; its key is in no log, journal or recording',
    async ({ daemon, api }) => {
      const recording = join(daemon.directory, 'node.rec');
      const { ca, sign } = signer(join(daemon.directory, 'signer'));
      await start(daemon, api, '--record', recording);
      const first = await asked(api);
      const { uid } = api.server.get(`${DEFAULT}/pods/${POD}`)!.metadata;
      expect(first.metadata.name).toMatch(/^req-/);
      expect(first.spec).toMatchObject({
        ...{ signerName: 'test/signer', podName: POD, podUID: uid, serviceAccountName: 'robot' },
        ...{ nodeName: NODE_NAME, maxExpirationSeconds: 7200 },
      });
      await eventually('an event says what the pod waits for', () =>
        saidOf(api).includes(
          'FailedMount: MountVolume.SetUp failed for volume "tls" : credential bundle is not issued yet',
        ),
      );
      // A renewal is due five minutes late at most, by chance.
      sign(api, first, -6 * MINUTE);
      const keys: string[] = [];
      const check = (bundle: string): void => {
        const [mode, ...lines] = bundle.split('\n');
        const pem = lines.join('\n');
        expect(mode).toBe('440');
        expect(pem).toMatch(
          /^-----BEGIN PRIVATE KEY-----\n[^-]+-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n$/,
        );
        const certificate = new X509Certificate(pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')));
        expect(certificate.verify(ca.publicKey)).toBe(true);
        expect(certificate.checkPrivateKey(createPrivateKey(pem))).toBe(true);
        keys.push(lines.slice(1, 3).join('\n'));
      };
      const before = await bundleOf(daemon);
      check(before);
      const { id } = await daemon.reached('web', 'CONTAINER_RUNNING');
      expect((await daemon.get('/metrics')).body).toContain(
        'kubelet_podcertificate_states{signer_name="test/signer",state="fresh"} 1',
      );

      sign(api, await asked(api, RENEWED_MS), 30 * MINUTE);
      const after = await eventually('the next one is in the container', async () => {
        const bundle = await bundleOf(daemon);
        return bundle !== before && bundle;
      });
      check(after);
      expect(keys[1]).not.toBe(keys[0]);
      expect((await daemon.reached('web', 'CONTAINER_RUNNING')).id).toBe(id);
      expect(requests(api)).toHaveLength(2);

      await daemon.kill('SIGTERM');
      const written = [
        daemon.log,
        JSON.stringify(daemon.journal()),
        gunzipSync(readFileSync(recording)).toString('utf8'),
      ];
      for (const key of keys)
        for (const line of key.split('\n'))
          expect(written.map((text) => text.includes(line))).toEqual([false, false, false]);
      // It was there: the request that the key has signed is in the recording.
      expect(written[2]).toContain(first.spec.stubPKCS10Request);
      await expectSame(daemon, recording);
    },
    RENEWED_MS * 2,
  );

  it('is requested again by the next agent, while the container keeps the one from before', async ({ daemon, api }) => {
    const { sign } = signer(join(daemon.directory, 'signer'));
    const args = await start(daemon, api);
    sign(api, await asked(api), 30 * MINUTE);
    const before = await bundleOf(daemon);
    const { id } = await daemon.reached('web', 'CONTAINER_RUNNING');
    await daemon.kill('SIGKILL');
    await daemon.start(...args);
    const next = await asked(api);
    expect(await bundleOf(daemon)).toBe(before);
    sign(api, next, 30 * MINUTE);
    await eventually('the next one is in the container', async () => (await bundleOf(daemon)) !== before);
    expect((await daemon.reached('web', 'CONTAINER_RUNNING')).id).toBe(id);
  });

  it('that its signer denies keeps the container from starting, and the events say so', async ({ daemon, api }) => {
    await start(daemon, api);
    const { metadata } = await asked(api);
    const path = `${podCertificateRequestsPath(metadata.namespace)}/${metadata.name}`;
    const conditions = [{ type: 'Denied', status: 'True', reason: 'UnsupportedKeyType', message: 'try ED25519' }];
    api.server.do({ method: 'PUT', path: `${path}/status`, body: { ...api.server.get(path), status: { conditions } } });
    const text = 'reason="UnsupportedKeyType" message="try ED25519"';
    await eventually('the API has both events', () => {
      const said = saidOf(api);
      expect(said).toContain(
        `Denied: PodCertificateRequest default/${metadata.name} was denied, reason="UnsupportedKeyType", message="try ED25519"`,
      );
      expect(said).toContain(
        `FailedMount: MountVolume.SetUp failed for volume "tls" : PodCertificateRequest was permanently denied: ${text}`,
      );
      return true;
    });
    const [pod] = await daemon.shownPods();
    expect(pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason).toBe('ContainerCreating');
    expect(requests(api)).toHaveLength(1);
  });
});
