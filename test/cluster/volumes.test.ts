import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { JournalEntry } from '../../src/model/journal/journal.js';
import { configMapPath, configMapsPath, secretPath, secretsPath } from '../../src/model/kube-api/api-paths.js';
import type { ApiObject } from '../../src/model/kube-api/api-object.js';
import type { Pod, PodSpec } from '../../src/model/pod/pod.js';
import { eventually } from '../embedded/eventually.js';
import { type ApiEvent, type ApiPodOf, type ClusterNode, containerOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const NODE = 'volumes';
const it = onNode(NODE);

type Volume = NonNullable<PodSpec['volumes']>[number];
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const NO_KEY = 'configmap references non-existent config key: key';
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** A pod whose only container has each volume at `/<name of the volume>`. */
const withVolumes = (name: string, volumes: readonly Volume[], own: Partial<ApiPodOf> = {}): ApiPodOf => ({
  name,
  volumes: [...volumes],
  containers: [{ volumeMounts: volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` })) }],
  ...own,
});

const configMap = (node: ClusterNode, name: string, data: Readonly<Record<string, string>>, own: object = {}) =>
  node.admin.create(configMapsPath(NODE), { metadata: { name }, data, ...own });
const secret = (node: ClusterNode, name: string, data: Readonly<Record<string, string>>) =>
  node.admin.create(secretsPath(NODE), { metadata: { name }, stringData: data });

/** Runs a command in the container `main` of a running pod. */
const inside = async (node: ClusterNode, pod: string, ...command: readonly string[]): Promise<string> => {
  const id = (containerOf(await node.running(pod)).containerID ?? '').replace('containerd://', '');
  return node.exec(id, ...command);
};
const shows = (node: ClusterNode, pod: string, file: string, content: string): Promise<unknown> =>
  eventually(`${pod} has ${content} in ${file}`, async () => {
    expect(await inside(node, pod, 'cat', file)).toBe(content);
    return true;
  });

const podDirectory = (node: ClusterNode, { metadata: { uid } }: Pod): string => join(node.rootDir, 'pods', uid);
const fileOf = (node: ClusterNode, pod: Pod, plugin: string, ...path: readonly string[]): string =>
  join(podDirectory(node, pod), 'volumes', `kubernetes.io~${plugin}`, ...path);
const mountsOf = (node: ClusterNode, pod: Pod): readonly string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(podDirectory(node, pod)));

const entriesOf = (node: ClusterNode, { metadata: { uid } }: Pod): readonly JournalEntry[] =>
  node.journal().filter(({ pod }) => pod?.uid === uid);
const isSync = ({ kind }: JournalEntry): boolean => kind === 'sync-started';

/** Resolves when nothing but a change or the time brings the next sync of the pod. */
const settled = (node: ClusterNode, pod: Pod): Promise<unknown> =>
  eventually(`the worker of ${pod.metadata.name} rests`, () => {
    const last = entriesOf(node, pod).findLast(({ kind }) => kind === 'sync-started' || kind === 'sync-ended');
    return last?.kind === 'sync-ended' && last.next.kind === 'resync';
  });

/** Makes a change and resolves with its Unix milliseconds and those of a read that finds the new content in the file. */
const switchOf = async (path: string, content: string, change: () => Promise<unknown>) => {
  const from = Date.now();
  await change();
  await eventually(`${path} is ${content}`, () => readFileSync(path, 'utf8') === content);
  return { from, to: Date.now() };
};

const failedMounts = async (node: ClusterNode, { metadata }: Pod): Promise<readonly ApiEvent[]> =>
  (await node.eventsOf(metadata.uid)).filter(({ reason }) => reason === 'FailedMount');

overCluster('a pod with the token of its service account', () => {
  it('is known to the API server as itself, from inside', async ({ node }) => {
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NODE}`;
    await node.admin.create(`/api/v1/namespaces/${NODE}/serviceaccounts`, {
      metadata: { name: 'reader' },
      // The pod has the volume already that newer servers add.
      automountServiceAccountToken: false,
    });
    await node.admin.create(`${rbac}/roles`, {
      metadata: { name: 'pod-reader' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    });
    await node.admin.create(`${rbac}/rolebindings`, {
      metadata: { name: 'pod-reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'pod-reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: NODE }],
    });
    // A controller would make it.
    await configMap(node, 'kube-root-ca.crt', { 'ca.crt': node.cluster.credentials('admin').ca });
    const { metadata } = await node.create({
      name: 'talks',
      serviceAccountName: 'reader',
      // The API server of the tests is on loopback only.
      hostNetwork: true,
      volumes: [
        {
          name: 'kube-api-access-x2v7q',
          projected: {
            defaultMode: 0o644,
            sources: [
              { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
              {
                downwardAPI: {
                  items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
                },
              },
            ],
          },
        },
      ],
      containers: [
        {
          env: [
            { name: 'SERVER', value: node.cluster.address },
            { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ],
          volumeMounts: [{ name: 'kube-api-access-x2v7q', readOnly: true, mountPath: ACCOUNT }],
        },
      ],
    });
    await node.running('talks');
    expect(await inside(node, 'talks', 'cat', `${ACCOUNT}/ca.crt`)).toBe(
      node.cluster.credentials('admin').ca.trimEnd(),
    );
    const answer = await inside(
      node,
      'talks',
      'sh',
      '-c',
      `cd ${ACCOUNT} && wget -q -O - --no-check-certificate --header "Authorization: Bearer $(cat token)" ` +
        '"$SERVER/api/v1/namespaces/$(cat namespace)/pods/$POD"',
    );
    expect(JSON.parse(answer)).toMatchObject({ kind: 'Pod', metadata: { name: 'talks', uid: metadata.uid } });
    const token = await inside(node, 'talks', 'cat', `${ACCOUNT}/token`);
    const review = await node.admin.create<ApiObject & { readonly status: object }>(
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
    );
    expect(review.status).toMatchObject({
      authenticated: true,
      user: {
        username: `system:serviceaccount:${NODE}:reader`,
        extra: {
          'authentication.kubernetes.io/pod-name': ['talks'],
          'authentication.kubernetes.io/pod-uid': [metadata.uid],
        },
      },
    });
  });
});

overCluster('the files of a running container', () => {
  it('follow a ConfigMap and a Secret without a sync of the pod, and labels with one', async ({ node }) => {
    await configMap(node, 'colours', { colour: 'green' });
    await secret(node, 'words', { word: 'one' });
    await node.create(
      withVolumes(
        'follows',
        [
          { name: 'config', configMap: { name: 'colours' } },
          { name: 'secret', secret: { secretName: 'words' } },
          {
            name: 'pod',
            downwardAPI: {
              items: [
                { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
                { path: 'annotations', fieldRef: { fieldPath: 'metadata.annotations' } },
              ],
            },
          },
        ],
        { labels: { tier: 'back' } },
      ),
    );
    const pod = await node.running('follows');
    expect(await inside(node, 'follows', 'cat', '/config/colour', '/secret/word', '/pod/labels')).toBe(
      'greenonetier="back"',
    );
    await settled(node, pod);
    // A routine sync of the pod may fall into one of them.
    const switches = [];
    for (const [colour, word] of [
      ['blue', 'none'],
      ['grey', 'many'],
      ['red', 'two'],
    ] as const) {
      const configMap = await switchOf(fileOf(node, pod, 'configmap', 'config', 'colour'), colour, () =>
        node.admin.patch(configMapPath(NODE, 'colours'), { data: { colour, size: 'big' } }),
      );
      const secret = await switchOf(fileOf(node, pod, 'secret', 'secret', 'word'), word, () =>
        node.admin.patch(secretPath(NODE, 'words'), { data: { word: base64(word) } }),
      );
      console.log(
        `from an object to its file: ${configMap.to - configMap.from} ms, of a Secret ${secret.to - secret.from} ms`,
      );
      switches.push({ configMap, secret });
    }
    expect(await inside(node, 'follows', 'cat', '/config/colour', '/config/size', '/secret/word')).toBe('redbigtwo');

    const labelledAt = Date.now();
    await node.admin.patch(node.path('follows'), {
      metadata: { labels: { tier: 'front' }, annotations: { note: 'new' } },
    });
    await shows(node, 'follows', '/pod/labels', 'tier="front"');
    expect(await inside(node, 'follows', 'cat', '/pod/annotations')).toMatch(/^note="new"$/m);
    // The journal is complete up to the sync that brought the labels.
    const syncs = await eventually('the journal has the sync of the labels', () => {
      const syncs = entriesOf(node, pod).filter(isSync);
      return syncs.some(({ at }) => at >= labelledAt) && syncs;
    });
    const isWithoutSync = ({ from, to }: { readonly from: number; readonly to: number }): boolean =>
      !syncs.some(({ at }) => at >= from && at <= to);
    expect(switches.filter(({ configMap }) => isWithoutSync(configMap)).length).toBeGreaterThanOrEqual(2);
    expect(switches.filter(({ secret }) => isWithoutSync(secret)).length).toBeGreaterThanOrEqual(2);
    expect(containerOf(await node.running('follows')).restartCount).toBe(0);
  });

  it('appear with an optional object, and go with it', async ({ node }) => {
    await node.create(
      withVolumes('optional', [
        { name: 'config', configMap: { name: 'maybe', optional: true } },
        { name: 'secret', secret: { secretName: 'maybe', optional: true } },
      ]),
    );
    await node.running('optional');
    expect(await inside(node, 'optional', 'ls', '/config', '/secret')).toBe('/config:\n\n/secret:');
    await configMap(node, 'maybe', { key: 'config' });
    await secret(node, 'maybe', { key: 'secret' });
    await shows(node, 'optional', '/config/key', 'config');
    await shows(node, 'optional', '/secret/key', 'secret');
    await node.admin.remove(configMapPath(NODE, 'maybe'));
    await eventually('the key is gone', async () => (await inside(node, 'optional', 'ls', '/config')) === '');
    expect(await inside(node, 'optional', 'ls', '/secret')).toBe('key');
  });

  it('stay as they are when an immutable object is made again', async ({ node }) => {
    await configMap(node, 'fixed', { key: 'one' }, { immutable: true });
    const labels = { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } };
    const sources = [{ configMap: { name: 'fixed' } }, { downwardAPI: { items: [labels] } }];
    await node.create(withVolumes('fixed', [{ name: 'config', projected: { sources } }]));
    await node.running('fixed');
    await node.admin.remove(configMapPath(NODE, 'fixed'));
    await configMap(node, 'fixed', { key: 'two' }, { immutable: true });
    // All files of a volume are of one moment.
    await node.admin.patch(node.path('fixed'), { metadata: { labels: { again: 'yes' } } });
    await shows(node, 'fixed', '/config/labels', 'again="yes"');
    expect(await inside(node, 'fixed', 'cat', '/config/key')).toBe('one');
  });
});

overCluster('a pod whose object is missing', () => {
  it.for([
    ['ConfigMap', { configMap: { name: 'late' } }, 'configmap "late" not found', configMap],
    ['Secret', { secret: { secretName: 'late' } }, 'secret "late" not found', secret],
    ['key', { configMap: { name: 'keyless', items: [{ key: 'key', path: 'key' }] } }, NO_KEY, undefined],
  ] as const)('waits for the %s, with one counted event, and starts once it is there', async (row, { node }) => {
    const [kind, source, message, create] = row;
    const name = `waits-${kind.toLowerCase()}`;
    if (!create) await configMap(node, 'keyless', { other: '' });
    const pod = await node.create(withVolumes(name, [{ name: 'files', ...source }]));
    const failures = () => entriesOf(node, pod).filter((entry) => entry.kind === 'volume' && entry.error !== undefined);
    await eventually('the mount has failed three times', () => failures().length >= 3);
    const waiting = await node.admin.get<Pod>(node.path(name));
    expect(waiting.status?.phase).toBe('Pending');
    expect(containerOf(waiting).state?.waiting).toEqual({ reason: 'ContainerCreating' });
    await (create
      ? create(node, 'late', { key: 'here' })
      : node.admin.patch(configMapPath(NODE, 'keyless'), { data: { key: 'here' } }));
    await node.running(name);
    expect(await inside(node, name, 'cat', '/files/key')).toBe('here');
    // Every failed attempt is counted, and nothing else.
    await eventually('the events are complete', async () => {
      expect(await failedMounts(node, pod)).toMatchObject([
        {
          type: 'Warning',
          message: `MountVolume.SetUp failed for volume "files" : ${message}`,
          count: failures().length,
        },
      ]);
      return true;
    });
  });
});

overCluster('a deleted pod with volumes', () => {
  it('stays in the API until they are unmounted, and leaves nothing', async ({ node }) => {
    await configMap(node, 'left', { key: 'value' });
    await secret(node, 'left', { key: 'value' });
    await node.create(
      withVolumes('leaves', [
        { name: 'config', configMap: { name: 'left' } },
        { name: 'secret', secret: { secretName: 'left' } },
        { name: 'disk', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory' } },
      ]),
    );
    const pod = await node.running('leaves');
    await inside(node, 'leaves', 'sh', '-c', 'mkdir -p /disk/a/b && echo x > /disk/a/b/c && echo x > /memory/d');
    expect(mountsOf(node, pod)).toHaveLength(2);
    const held = openSync(fileOf(node, pod, 'empty-dir', 'memory', 'd'), 'r');
    try {
      await node.admin.remove(node.path('leaves'));
      await eventually('the volume cannot be unmounted', () =>
        entriesOf(node, pod).some((entry) => entry.kind === 'volume' && entry.step === 'unmount' && entry.error),
      );
      expect(await node.admin.find<Pod>(node.path('leaves'))).toMatchObject({
        metadata: { uid: pod.metadata.uid, deletionTimestamp: expect.any(String) as string },
      });
    } finally {
      closeSync(held);
    }
    await node.gone('leaves');
    expect(mountsOf(node, pod)).toEqual([]);
    expect(existsSync(join(podDirectory(node, pod), 'volumes', 'kubernetes.io~empty-dir', 'disk'))).toBe(false);
    await eventually('the directory of the pod is gone', () => !existsSync(podDirectory(node, pod)));
  });
});
