import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import type { ContainerdNode } from './containerd-node.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';
import {
  configMap,
  directoryOf,
  failedMounts,
  gone,
  mountsBelow,
  putObjects,
  quickRestarts,
  secret,
  sh,
} from './volume-pods.js';

const it = onOneNode(quickRestarts);
const mounts = [{ name: 'data', mountPath: '/data' }];
/** The names of the files behind the links, with their modes and owners. */
const modes = async (node: ContainerdNode, id: string, ...names: readonly string[]): Promise<string[]> =>
  (await sh(node, id, `cd /data; stat -L -c "%n %a %u:%g" ${names.join(' ')}`)).split('\n');

overContainerd('a volume of a ConfigMap', () => {
  it('has a file for each key, which links lead to, and which nothing can write to', async ({ node }) => {
    putObjects(node, 'a-all.yaml', {
      ...configMap('all', { one: '1', 'two.conf': 'a=b\n' }),
      binaryData: { raw: Buffer.from([0, 255, 10]).toString('base64') },
    });
    node.apply({
      name: 'all',
      volumes: [{ name: 'data', configMap: { name: 'all' } }],
      containers: [{ volumeMounts: mounts }],
    });
    const { id } = await running(node, 'all');
    expect((await sh(node, id, 'cd /data; ls; cat one; echo; cat two.conf; od -An -tx1 raw')).split('\n')).toEqual([
      ...['one', 'raw', 'two.conf', '1', 'a=b', ' 00 ff 0a'],
    ]);
    expect(await modes(node, id, 'one', 'two.conf', 'raw')).toEqual(['one 644 0:0', 'two.conf 644 0:0', 'raw 644 0:0']);
    expect(await sh(node, id, 'readlink /data/one; readlink /data/..data')).toMatch(
      /^\.\.data\/one\n\.\.\d{4}(_\d\d){5}\.\d+$/,
    );
    const refused = await sh(node, id, '(echo x > /data/one) 2>&1; (echo x > /data/new) 2>&1; true');
    expect(refused.match(/Read-only file system/g)).toHaveLength(2);
  });

  it('has the chosen keys at their paths, with the modes of the volume and of the keys', async ({ node }) => {
    putObjects(node, 'a-items.yaml', configMap('items', { one: '1', two: '2', three: '3' }));
    node.apply({
      name: 'items',
      securityContext: { runAsUser: 1234, fsGroup: 4321 },
      volumes: [
        {
          name: 'data',
          configMap: {
            name: 'items',
            defaultMode: 0o400,
            items: [
              { key: 'one', path: 'deep/er/uno' },
              { key: 'two', path: 'dos', mode: 0o755 },
            ],
          },
        },
      ],
      containers: [{ volumeMounts: mounts }],
    });
    const { id } = await running(node, 'items');
    expect(await sh(node, id, 'cd /data; ls; cat deep/er/uno dos')).toBe('deep\ndos\n12');
    // The group of the pod may read all of them.
    expect(await modes(node, id, 'deep/er/uno', 'dos')).toEqual(['deep/er/uno 440 0:4321', 'dos 755 0:4321']);
    expect(await modes(node, id, '.')).toEqual(['. 2777 0:4321']);
  });

  it('is empty if it is optional and there is none, and gets the files of a later one', async ({ node }) => {
    putObjects(node, 'a-other.yaml', configMap('other', { there: 'yes' }));
    node.apply({
      name: 'optional',
      volumes: [
        { name: 'data', configMap: { name: 'later', optional: true } },
        {
          name: 'keys',
          configMap: {
            name: 'other',
            optional: true,
            items: [
              { key: 'there', path: 'there' },
              { key: 'missing', path: 'missing' },
            ],
          },
        },
      ],
      containers: [{ volumeMounts: [...mounts, { name: 'keys', mountPath: '/keys' }] }],
    });
    const { id } = await running(node, 'optional');
    expect(await sh(node, id, 'ls /data; ls /keys')).toBe('there');
    putObjects(node, 'a-later.yaml', configMap('later', { came: 'late' }));
    await eventually('the file is there', async () => (await sh(node, id, 'cat /data/came')) === 'late');
  });

  it('that is missing is named by an event, and the pod starts once it is there', async ({ node }) => {
    putObjects(node, 'a-keys.yaml', configMap('keys', { other: 'x' }));
    node.apply({
      name: 'waiting',
      volumes: [
        { name: 'data', configMap: { name: 'not-yet' } },
        { name: 'keys', configMap: { name: 'keys', items: [{ key: 'wanted', path: 'wanted' }] } },
      ],
      containers: [{ volumeMounts: [...mounts, { name: 'keys', mountPath: '/keys' }] }],
    });
    await eventually('the events say so', () => {
      expect(failedMounts(node, 'waiting')).toEqual(
        expect.arrayContaining([
          'MountVolume.SetUp failed for volume "data" : configmap "not-yet" not found',
          'MountVolume.SetUp failed for volume "keys" : configmap references non-existent config key: wanted',
        ]),
      );
      return true;
    });
    expect(await node.containersOf('waiting')).toEqual([]);
    putObjects(node, 'a-keys.yaml', configMap('keys', { wanted: 'w' }));
    putObjects(node, 'a-not-yet.yaml', configMap('not-yet', { now: 'n' }));
    const { id } = await running(node, 'waiting');
    expect(await sh(node, id, 'cat /data/now /keys/wanted')).toBe('nw');
  });

  it('shows each change at once and as a whole, but not through a sub-path', async ({ node }) => {
    const version = (number: number) =>
      configMap('changing', { one: String(number), two: String(number), [`only-${number}`]: '' });
    putObjects(node, 'a-changing.yaml', version(0));
    node.apply({
      name: 'changing',
      volumes: [
        { name: 'data', configMap: { name: 'changing' } },
        { name: 'log', emptyDir: {} },
      ],
      containers: [
        {
          volumeMounts: [
            ...mounts,
            { name: 'data', mountPath: '/pinned', subPath: 'one' },
            { name: 'log', mountPath: '/log' },
          ],
        },
        {
          // Opened once, a version stays as it was: a reader enters the directory and reads both files of it.
          name: 'reader',
          volumeMounts: [...mounts, { name: 'log', mountPath: '/log' }],
          script: `while :; do
  cd -P /data/..data 2>/dev/null || continue
  one=$(cat one 2>/dev/null) && two=$(cat two 2>/dev/null) || continue
  if [ "$one" != "$two" ]; then echo "$one $two" >> /log/torn; fi
  echo "$one" >> /log/seen
done`,
        },
      ],
    });
    const { id } = await running(node, 'changing');
    await running(node, 'changing', 'reader');
    const before = await sh(node, id, 'readlink /data/..data');
    for (const number of [1, 2, 3, 4, 5]) {
      putObjects(node, 'a-changing.yaml', version(number));
      await eventually(
        `version ${number} is seen`,
        async () => (await sh(node, id, 'cat /data/one')) === String(number),
      );
      await eventually('the reader has read it', async () =>
        (await sh(node, id, 'sort -u /log/seen')).split('\n').includes(String(number)),
      );
    }
    expect(await sh(node, id, 'ls /data; cat /data/two /pinned')).toBe('one\nonly-5\ntwo\n50');
    expect(await sh(node, id, 'readlink /data/..data')).not.toBe(before);
    expect(await sh(node, id, 'ls -A /data | grep -c "^\\.\\.[0-9]"')).toBe('1');
    expect(await sh(node, id, 'cat /log/torn 2>/dev/null || echo none')).toBe('none');
    expect((await node.containersOf('changing', 'main')).map(({ attempt }) => attempt)).toEqual([0]);
  });

  it('keeps its files when the object goes', async ({ node }) => {
    putObjects(node, 'a-leaving.yaml', configMap('leaving', { one: 'stays' }));
    node.apply({
      name: 'leaving',
      volumes: [{ name: 'data', configMap: { name: 'leaving' } }],
      containers: [{ volumeMounts: mounts }],
    });
    const { id } = await running(node, 'leaving');
    node.write('a-leaving.yaml', '# nothing\n');
    await eventually('the event says so', () =>
      failedMounts(node, 'leaving').includes(
        'MountVolume.SetUp failed for volume "data" : configmap "leaving" not found',
      ),
    );
    expect(await sh(node, id, 'cat /data/one')).toBe('stays');
    const directory = await directoryOf(node, 'leaving');
    node.withdraw('leaving');
    await gone(directory);
  });
});

overContainerd('a volume of a Secret', () => {
  it('is in memory with its modes, follows its changes, and is nowhere else', async ({ node }) => {
    const HIDDEN = 'the-word-that-must-not-leak';
    putObjects(node, 'a-hidden.yaml', secret('hidden', { password: HIDDEN, user: 'me' }));
    node.apply({
      name: 'hidden',
      volumes: [{ name: 'data', secret: { secretName: 'hidden', defaultMode: 0o400 } }],
      containers: [
        { volumeMounts: mounts },
        { name: 'user', securityContext: { runAsUser: 1234 }, volumeMounts: mounts },
      ],
    });
    const { id } = await running(node, 'hidden');
    expect(await sh(node, id, 'cat /data/password; echo; grep " /data " /proc/mounts')).toMatch(
      new RegExp(`^${HIDDEN}\ntmpfs /data tmpfs ro,`),
    );
    expect(await modes(node, id, 'password', 'user')).toEqual(['password 400 0:0', 'user 400 0:0']);
    const other = await running(node, 'hidden', 'user');
    expect(await sh(node, other.id, 'cat /data/password 2>&1 || true')).toContain('Permission denied');

    putObjects(node, 'a-hidden.yaml', secret('hidden', { password: `${HIDDEN}-2` }));
    await eventually('the new one is seen', async () => (await sh(node, id, 'cat /data/password')) === `${HIDDEN}-2`);
    expect(await sh(node, id, 'ls /data')).toBe('password');
    expect(node.log).not.toContain(HIDDEN);
    expect((await node.get('/pods')).body).not.toContain(HIDDEN);
    const journal = join(node.rootDir, 'journal');
    for (const file of readdirSync(journal)) expect(readFileSync(join(journal, file), 'utf8')).not.toContain(HIDDEN);
    const directory = await directoryOf(node, 'hidden');
    expect(mountsBelow(directory)).toEqual([join(directory, 'volumes/kubernetes.io~secret/data')]);
    node.withdraw('hidden');
    await gone(directory);
  });
});

overContainerd('other volumes of files', () => {
  it('of the downward API have the metadata of the pod and the resources of its containers', async ({ node }) => {
    node.apply({
      name: 'downward',
      labels: { app: 'web', tier: 'front' },
      volumes: [
        {
          name: 'data',
          downwardAPI: {
            items: [
              { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
              { path: 'app', fieldRef: { fieldPath: "metadata.labels['app']" }, mode: 0o600 },
              { path: 'name', fieldRef: { fieldPath: 'metadata.name' } },
              { path: 'uid', fieldRef: { fieldPath: 'metadata.uid' } },
              { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu', divisor: '1m' } },
              {
                path: 'memory',
                resourceFieldRef: { containerName: 'main', resource: 'requests.memory', divisor: '1Mi' },
              },
            ],
          },
        },
      ],
      containers: [
        { volumeMounts: mounts, resources: { limits: { cpu: '250m', memory: '64Mi' }, requests: { memory: '32Mi' } } },
      ],
    });
    const { id, status } = await running(node, 'downward');
    const uid = status.labels['io.kubernetes.pod.uid'] ?? '';
    expect(
      (await sh(node, id, 'cd /data; cat labels; echo; for f in app name uid cpu memory; do cat $f; echo; done')).split(
        '\n',
      ),
    ).toEqual(['app="web"', 'tier="front"', 'web', 'downward-node1', uid, '250', '32']);
    expect(await modes(node, id, 'app', 'name')).toEqual(['app 600 0:0', 'name 644 0:0']);
    expect(await sh(node, id, 'grep " /data " /proc/mounts')).toMatch(/^tmpfs \/data tmpfs ro,/);
  });

  it('of the downward API follow the labels of a pod that keeps its UID', async ({ node }) => {
    const withLabel = (version: string): string =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'labelled', uid: 'a-uid-of-its-own', labels: { version } },
        spec: {
          terminationGracePeriodSeconds: 1,
          volumes: [
            { name: 'data', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
          ],
          containers: [
            { name: 'main', image: 'stage.test/busybox:1', command: ['sleep', '2147483'], volumeMounts: mounts },
          ],
        },
      });
    node.write('labelled.yaml', withLabel('one'));
    const { id } = await running(node, 'labelled');
    expect(await sh(node, id, 'cat /data/labels')).toBe('version="one"');
    node.write('labelled.yaml', withLabel('two'));
    await eventually('the new label is seen', async () => (await sh(node, id, 'cat /data/labels')) === 'version="two"');
  });

  it('of several sources have the files of all, and of each change', async ({ node }) => {
    putObjects(node, 'a-sources.yaml', configMap('sources', { one: 'config' }), secret('sources', { word: 'secret' }));
    node.apply({
      name: 'sources',
      labels: { app: 'web' },
      volumes: [
        {
          name: 'data',
          projected: {
            defaultMode: 0o440,
            sources: [
              { configMap: { name: 'sources' } },
              { secret: { name: 'sources', items: [{ key: 'word', path: 'hidden/word', mode: 0o400 }] } },
              { downwardAPI: { items: [{ path: 'app', fieldRef: { fieldPath: "metadata.labels['app']" } }] } },
              { configMap: { name: 'sources-missing', optional: true } },
            ],
          },
        },
        { name: 'nested', emptyDir: {} },
      ],
      containers: [
        // One volume is mounted inside of the other, which is read-only.
        { volumeMounts: [...mounts, { name: 'nested', mountPath: '/data/own' }] },
      ],
    });
    const { id } = await running(node, 'sources');
    expect(await sh(node, id, 'cd /data; ls; cat one hidden/word app; touch own/file; ls own')).toBe(
      'app\nhidden\none\nown\nconfigsecretwebfile',
    );
    expect(await modes(node, id, 'one', 'hidden/word', 'app')).toEqual([
      ...['one 440 0:0', 'hidden/word 400 0:0', 'app 440 0:0'],
    ]);
    putObjects(node, 'a-sources.yaml', configMap('sources', { one: 'new' }), secret('sources', { word: 'fresh' }));
    await eventually('both are new', async () => (await sh(node, id, 'cd /data; cat one hidden/word')) === 'newfresh');
    expect(await sh(node, id, 'ls /data/own')).toBe('file');
    const directory = await directoryOf(node, 'sources');
    node.withdraw('sources');
    await gone(directory);
  });

  it('of a token are refused where no API server issues one', async ({ node }) => {
    node.apply({
      name: 'token',
      volumes: [{ name: 'data', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
      containers: [{ volumeMounts: mounts }],
    });
    await eventually('the log says so', () => /token\.yaml.*serviceAccountToken.*only an API server/.test(node.log));
    expect(await node.containersOf('token')).toEqual([]);
    expect(existsSync(join(node.manifests, 'token.yaml'))).toBe(true);
  });
});
