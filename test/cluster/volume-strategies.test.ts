import { expect } from 'vitest';
import type { ApiObject } from '../../src/model/kube-api/api-object.js';
import {
  configMapPath,
  configMapsPath,
  nodePath,
  secretPath,
  secretsPath,
} from '../../src/model/kube-api/api-paths.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { itOnShared } from '../containerd/shared-node.js';
import { eventually } from '../embedded/eventually.js';
import type { ApiProxy, ProxiedRequest } from '../support/api-proxy.js';
import { type ClusterNode, containerOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { proxiedNode } from './proxied-node.js';

const NODE = 'strategies';

/** What the agent asks the API server for. */
const asked: ProxiedRequest[] = [];
let proxy: ApiProxy;

const it = itOnShared(async () => {
  const proxied = await proxiedNode(NODE);
  const { node } = proxied;
  proxy = proxied.proxy;
  proxy.decide = (request) => {
    asked.push(request);
    return undefined;
  };
  // Routine syncs of pods come after a second, or half a second later.
  node.fields = { configMapAndSecretChangeDetectionStrategy: 'Get', syncFrequency: '1s' };
  return { ...proxied, start: () => node.start() };
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Makes a ConfigMap and a Secret of that name with the one key `word`. */
const objects = async (node: ClusterNode, name: string, word: string): Promise<void> => {
  await node.admin.create(configMapsPath(NODE), { metadata: { name }, data: { word } });
  await node.admin.create(secretsPath(NODE), { metadata: { name }, stringData: { word } });
};
const change = async (node: ClusterNode, name: string, word: string): Promise<void> => {
  await node.admin.patch(configMapPath(NODE, name), { data: { word } });
  await node.admin.patch(secretPath(NODE, name), { data: { word: base64(word) } });
};

/** A pod with the files of the ConfigMap and the Secret of a name; resolves when it runs. */
const reader = async (node: ClusterNode, name: string, object: string): Promise<Pod> => {
  await node.create({
    name,
    volumes: [
      { name: 'config', configMap: { name: object } },
      { name: 'secret', secret: { secretName: object } },
    ],
    containers: [{ volumeMounts: ['config', 'secret'].map((volume) => ({ name: volume, mountPath: `/${volume}` })) }],
  });
  return node.running(name);
};

const idOf = (pod: Pod): string => (containerOf(pod).containerID ?? '').replace('containerd://', '');
const wordsIn = (node: ClusterNode, pod: Pod): Promise<string> =>
  node.exec(idOf(pod), 'sh', '-c', 'echo "$(cat /config/word) $(cat /secret/word)"');
const shows = (node: ClusterNode, pod: Pod, word: string): Promise<unknown> =>
  eventually(`${pod.metadata.name} has ${word} in both files`, async () => {
    expect(await wordsIn(node, pod)).toBe(`${word} ${word}`);
    return true;
  });

/** The requests of the agent for the ConfigMap and the Secret of a name so far. */
const requestsFor = (name: string): readonly string[] =>
  asked
    .filter((request) => ['configmaps', 'secrets'].includes(request.resource) && request.namespace === NODE)
    .filter((request) => request.name === name || request.name === undefined)
    .map(({ verb, resource }) => `${verb} ${resource}`);

/** Resolves after `count` further requests for the objects of a name: more than a cache of a minute lets through within the deadline. */
const isReadAgain = async (name: string, count: number): Promise<void> => {
  const before = requestsFor(name).length;
  await eventually(`${name} is read again and again`, () => requestsFor(name).length >= before + count);
};

const syncsOf = (node: ClusterNode, { metadata: { uid } }: Pod): number =>
  node.journal().filter(({ kind, pod }) => kind === 'sync-started' && pod?.uid === uid).length;
/** Resolves after this number of further syncs of a pod, which its time alone brings. */
const moreSyncs = async (node: ClusterNode, pod: Pod, count: number): Promise<void> => {
  const before = syncsOf(node, pod);
  await eventually(`${pod.metadata.name} has ${count} more syncs`, () => syncsOf(node, pod) >= before + count);
};
const onlyOnce = async (node: ClusterNode, pod: Pod): Promise<void> => {
  const now = await node.running(pod.metadata.name);
  expect(containerOf(now)).toMatchObject({ restartCount: 0, containerID: containerOf(pod).containerID });
};

overCluster('the files of a container, by the strategy Get,', () => {
  it('are those of the object at the next sync, which reads it again each time', async ({ node }) => {
    await objects(node, 'read', 'one');
    const pod = await reader(node, 'reads', 'read');
    expect(await wordsIn(node, pod)).toBe('one one');
    await moreSyncs(node, pod, 1);
    await isReadAgain('read', 8);
    for (const word of ['two', 'three']) {
      await change(node, 'read', word);
      // One read of each has to be enough, since the server refuses all others.
      const seen = new Set<string>();
      const all = proxy.decide;
      proxy.decide = (request) => {
        all(request);
        const { verb, resource, name } = request;
        if (name !== 'read' || verb !== 'get') return undefined;
        if (seen.has(resource)) return { kind: 'refused', code: 500, reason: 'InternalError' };
        seen.add(resource);
        return undefined;
      };
      try {
        await shows(node, pod, word);
      } finally {
        proxy.decide = all;
      }
    }
    expect(new Set(requestsFor('read'))).toEqual(new Set(['get configmaps', 'get secrets']));
    await onlyOnce(node, pod);
  });

  it('include a token that is renewed before it expires, and the old one stays whole until then', async ({ node }) => {
    const LIFE_SECONDS = 20;
    /** Renewal is due when a fifth of the life is left, or up to nine seconds earlier. */
    const EARLIEST_MS = (LIFE_SECONDS - LIFE_SECONDS / 5 - 9) * 1_000;
    const issued: { readonly token: string; readonly at: number }[] = [];
    // The API server issues no token of less than ten minutes: the proxy has these expire sooner.
    proxy.alter = ({ verb, resource, namespace, name }) =>
      `${verb} ${resource} ${namespace} ${name}` === `create serviceaccounts/token ${NODE} default`
        ? (answer) => {
            const { spec, status, ...rest } = answer as { readonly spec: object; readonly status: { token: string } };
            issued.push({ token: status.token, at: Date.now() });
            const expirationTimestamp = new Date(Date.now() + LIFE_SECONDS * 1_000).toISOString();
            return {
              ...rest,
              spec: { ...spec, expirationSeconds: LIFE_SECONDS },
              status: { ...status, expirationTimestamp },
            };
          }
        : undefined;
    await node.create({
      name: 'renewed',
      volumes: [
        {
          name: 'token',
          projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 600 } }] },
        },
        { name: 'log', emptyDir: {} },
      ],
      containers: [
        {
          volumeMounts: ['token', 'log'].map((name) => ({ name, mountPath: `/${name}` })),
          // A directory that was entered may be removed in the middle, which ends a read with an error; the newest one never is.
          // Looks follow each other quickly after a change, then more slowly.
          script: `exec 3< /token/token
last= hundredths=1
while usleep "$hundredths"0000; do
  [ "$hundredths" = 20 ] || hundredths=$((hundredths + 1))
  cd -P /token/..data 2>/dev/null || continue
  if token=$(cat token 2>/dev/null); then
    if [ "$token" != "$last" ]; then echo "$token" >> /log/seen; last=$token hundredths=1; fi
  elif [ "$(readlink /token/..data)" = "$(basename "$(pwd -P)")" ]; then echo "no token" >> /log/seen
  fi
done`,
        },
      ],
    });
    const pod = await node.running('renewed');
    const exec = (script: string): Promise<string> => node.exec(idOf(pod), 'sh', '-c', script);
    /** The numbers of the tokens, by their order, that the lines of a text are; -1 for a text that is none of them. */
    const numbersIn = async (script: string): Promise<readonly number[]> =>
      (await exec(script)).split('\n').map((line) => issued.findIndex(({ token }) => token === line));
    const seen = await eventually('the container has read two tokens', async () => {
      const numbers = await numbersIn('cat /log/seen');
      return numbers.length >= 2 && numbers;
    });
    expect(seen).not.toContain(-1);
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    // An open file stays as it was.
    const [opened = -1] = await numbersIn('cat /proc/1/fd/3');
    expect(opened).toBeGreaterThanOrEqual(0);
    expect(opened).toBeLessThanOrEqual(seen[0]!);
    for (const [index, { at }] of issued.slice(1).entries())
      expect(at - issued[index]!.at).toBeGreaterThanOrEqual(EARLIEST_MS);
    const { status } = await node.admin.create<ApiObject & { readonly status: object }>(
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: issued[seen.at(-1)!]?.token } },
    );
    expect(status).toMatchObject({
      authenticated: true,
      user: { extra: { 'authentication.kubernetes.io/pod-uid': [pod.metadata.uid] } },
    });
    await onlyOnce(node, pod);
    await node.admin.remove(node.path('renewed'));
    await node.gone('renewed');
  });
});

overCluster(
  'the files of a container, by the strategy Cache,',
  () => {
    const annotate = (node: ClusterNode, seconds: string): Promise<unknown> =>
      node.admin.patch(nodePath(NODE), { metadata: { annotations: { 'node.alpha.kubernetes.io/ttl': seconds } } });

    it('stay for the time that the Node states, unless a new pod reads the object', async ({ node }) => {
      await node.kill('SIGTERM');
      await annotate(node, '3600');
      node.fields = { ...node.fields, configMapAndSecretChangeDetectionStrategy: 'Cache' };
      await node.start();
      await objects(node, 'cached', 'one');
      const pod = await reader(node, 'caches', 'cached');
      await moreSyncs(node, pod, 1);
      await change(node, 'cached', 'two');
      const before = requestsFor('cached').length;
      await moreSyncs(node, pod, 3);
      expect(await wordsIn(node, pod)).toBe('one one');
      expect(requestsFor('cached')).toHaveLength(before);

      // The cache is one for all pods.
      const other = await reader(node, 'comes', 'cached');
      expect(await wordsIn(node, other)).toBe('two two');
      await shows(node, pod, 'two');
      expect(requestsFor('cached').length - before).toBe(2);

      await change(node, 'cached', 'three');
      await annotate(node, '1');
      await shows(node, pod, 'three');
      await isReadAgain('cached', 8);
      await change(node, 'cached', 'four');
      await Promise.all([pod, other].map((one) => shows(node, one, 'four')));
      expect(new Set(requestsFor('cached'))).toEqual(new Set(['get configmaps', 'get secrets']));
      for (const one of [pod, other]) await onlyOnce(node, one);
    });
  },
  { alone: true },
);
