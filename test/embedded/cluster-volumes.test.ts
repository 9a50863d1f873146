import { describe, expect } from 'vitest';
import { type AlterAnswer, apiOverHttp } from './api-over-http.js';
import { type Daemon, isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { joined } from './joined.js';
import { manifest } from './manifests.js';
import { inside, isGone, isRead } from './volume-views.js';

const NAMESPACE = '/api/v1/namespaces/default';
/** Named like a static pod, so that its containers are found as theirs. */
const POD = `reader-${NODE_NAME}`;
const LIFE_SECONDS = 20;

interface IssuedToken {
  readonly status: { readonly token: string };
}

/** Has the tokens expire sooner than an API server would issue them. */
const shortLives = (issued: string[]): AlterAnswer => {
  return ({ method, path }, answer) => {
    if (method !== 'POST' || !path.endsWith('/token')) return answer;
    const { status, ...rest } = answer as IssuedToken;
    issued.push(status.token);
    const expirationTimestamp = new Date(Date.now() + LIFE_SECONDS * 1_000).toISOString();
    return { ...rest, spec: { expirationSeconds: LIFE_SECONDS }, status: { ...status, expirationTimestamp } };
  };
};

const agentOf = async (daemon: Daemon, issued: string[]) => {
  const api = await apiOverHttp(NODE_NAME, shortLives(issued));
  daemon.beforeDispose(() => Promise.resolve(api.close()));
  const put = (method: 'POST' | 'PUT', path: string, body: object): void =>
    void api.server.do({ method, path: `${NAMESPACE}/${path}`, body });
  put('POST', 'serviceaccounts', { metadata: { name: 'default' } });
  put('POST', 'configmaps', { metadata: { name: 'colours' }, data: { colour: 'green' } });
  put('POST', 'secrets', { metadata: { name: 'words' }, data: { word: Buffer.from('one').toString('base64') } });
  const config = daemon.configuration({ syncFrequency: '1s' });
  await daemon.start('--kubeconfig', joined(daemon.directory, api.url), '--port', '0', '--config', config);
  return { server: api.server, put };
};

const volumes = [
  {
    name: 'token',
    projected: { defaultMode: 0o644, sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 600 } }] },
  },
  { name: 'config', configMap: { name: 'colours' } },
  { name: 'secret', secret: { secretName: 'words', defaultMode: 0o444 } },
  {
    name: 'about',
    downwardAPI: {
      items: ['labels', 'annotations'].map((path) => ({ path, fieldRef: { fieldPath: `metadata.${path}` } })),
    },
  },
];

describe.runIf(isRoot)('over the embedded runtime, the volumes of a pod of a cluster', () => {
  it('follow their objects, the metadata of the pod and its token in the running container', async ({ daemon }) => {
    const issued: string[] = [];
    const { server, put } = await agentOf(daemon, issued);
    const pod = manifest(daemon.directory, {
      ...{ name: POD, nodeName: NODE_NAME, serviceAccountName: 'default', labels: { tier: 'back' } },
      securityContext: { runAsUser: 1234, runAsGroup: 1235 },
      containers: [{ volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/rx/${name}` })) }],
      volumes,
    });
    server.do({ method: 'POST', path: `${NAMESPACE}/pods`, body: JSON.parse(pod) as object });
    const { id } = await daemon.reached('reader', 'CONTAINER_RUNNING');

    // The token belongs to the only user of the pod.
    expect(await inside(daemon, 'reader', 'stat -L -c "%a %u:%g" /rx/token/token /rx/config/colour')).toEqual([
      '600 1234:0',
      '644 0:0',
    ]);
    const [first = ''] = await inside(daemon, 'reader', 'cat /rx/token/token');
    expect(issued).toContain(first);
    expect(await inside(daemon, 'reader', 'cd /rx; cat config/colour secret/word about/labels')).toEqual([
      'greenonetier="back"',
    ]);

    put('PUT', 'configmaps/colours', { metadata: { name: 'colours' }, data: { colour: 'blue' } });
    await isRead(daemon, 'reader', '/rx/config/colour', 'blue');
    put('PUT', 'secrets/words', { metadata: { name: 'words' }, data: { word: Buffer.from('two').toString('base64') } });
    await isRead(daemon, 'reader', '/rx/secret/word', 'two');
    server.do({
      method: 'PATCH',
      path: `${NAMESPACE}/pods/${POD}`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { tier: 'front' }, annotations: { note: 'new' } } },
    });
    await isRead(daemon, 'reader', '/rx/about/labels', 'tier="front"');
    await eventually('the annotation is there', async () =>
      (await inside(daemon, 'reader', 'cat /rx/about/annotations')).includes('note="new"'),
    );
    await eventually('the token is a later one', async () => {
      const [now = ''] = await inside(daemon, 'reader', 'cat /rx/token/token');
      return issued.indexOf(now) > issued.indexOf(first);
    });
    expect((await daemon.reached('reader', 'CONTAINER_RUNNING')).id).toBe(id);

    server.do({ method: 'DELETE', path: `${NAMESPACE}/pods/${POD}` });
    await eventually('the pod is gone', () => server.list(`${NAMESPACE}/pods`).length === 0);
    await isGone(daemon);
    // A token is written nowhere but to its volume.
    expect(issued.filter((token) => daemon.log.includes(token))).toEqual([]);
  });
});
