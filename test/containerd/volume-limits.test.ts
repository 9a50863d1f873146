import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { PodSpec } from '../../src/model/pod/pod.js';
import { eventually } from '../embedded/eventually.js';
import type { ContainerOf } from '../embedded/manifests.js';
import { fileListing } from '../support/file-listing.js';
import { CLIMBING_PODS } from './climbing-pods.js';
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

/** A folder beside that of the pods, in the root directory, which no pod may reach. */
const sentinel = (node: ContainerdNode): string => join(node.rootDir, 'sentinel');
let untouched: readonly string[] = [];

const it = onOneNode((node) => {
  if (untouched.length > 0) return quickRestarts(node);
  const tree = sentinel(node);
  mkdirSync(join(tree, 'folder/deep'), { recursive: true });
  writeFileSync(join(tree, 'folder/file'), 'of the machine\n');
  symlinkSync('folder/file', join(tree, 'link'));
  execFileSync('mkfifo', [join(tree, 'pipe')]);
  untouched = fileListing(tree);
  return quickRestarts(node);
});

type Volumes = NonNullable<PodSpec['volumes']>;

/** A folder of this machine for one test. */
const folder = (node: ContainerdNode, name: string): string => {
  const path = join(node.directory, `host-${name}`);
  mkdirSync(path);
  return path;
};

const range = (count: number): readonly number[] => [...Array(count).keys()];
const lines = async (text: Promise<string>): Promise<readonly string[]> => (await text).split('\n');

overContainerd('many volumes and large objects', () => {
  it('are set up for a pod of fifty volumes of all kinds, each with its own content', async ({ node }) => {
    const path = folder(node, 'fifty');
    const indexes = range(7);
    putObjects(
      node,
      'a-fifty.yaml',
      ...indexes.map((index) => configMap(`fifty-${index}`, { file: `config ${index}\n` })),
      ...indexes.map((index) => secret(`fifty-${index}`, { file: `secret ${index}\n` })),
    );
    const annotation = (index: number) => ({ path: 'file', fieldRef: { fieldPath: `metadata.labels['l${index}']` } });
    const volumes: Volumes = [
      ...indexes.flatMap((index): Volumes => {
        mkdirSync(join(path, String(index)));
        return [
          { name: `config-${index}`, configMap: { name: `fifty-${index}` } },
          { name: `secret-${index}`, secret: { secretName: `fifty-${index}` } },
          { name: `pod-${index}`, downwardAPI: { items: [annotation(index)] } },
          {
            name: `all-${index}`,
            projected: {
              sources: [
                { configMap: { name: `fifty-${index}`, items: [{ key: 'file', path: 'config' }] } },
                { secret: { name: `fifty-${index}`, items: [{ key: 'file', path: 'deep/secret' }] } },
              ],
            },
          },
          { name: `disk-${index}`, emptyDir: {} },
          { name: `memory-${index}`, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
          { name: `host-${index}`, hostPath: { path: join(path, String(index)), type: 'Directory' } },
        ];
      }),
      { name: 'last', emptyDir: {} },
    ];
    expect(volumes).toHaveLength(50);
    node.apply({
      name: 'fifty',
      labels: Object.fromEntries(indexes.map((index) => [`l${index}`, `label-${index}`])),
      volumes,
      containers: [{ volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/v/${name}` })) }],
    });
    const { id } = await running(node, 'fifty');
    const written = ['disk', 'memory', 'host'].flatMap((kind) => indexes.map((index) => `${kind}-${index}`));
    await sh(node, id, `cd /v; for name in ${written.join(' ')}; do echo $name > $name/file; done`);
    // Without links: each file once, by the path of its user.
    const found = await lines(
      sh(node, id, 'cd /v; for f in */file */config */deep/secret; do echo "$f $(cat $f)"; done'),
    );
    expect(new Set(found)).toEqual(
      new Set([
        ...written.map((name) => `${name}/file ${name}`),
        ...indexes.flatMap((index) => [
          ...[`config-${index}/file config ${index}`, `secret-${index}/file secret ${index}`],
          ...[`pod-${index}/file label-${index}`, `all-${index}/config config ${index}`],
          `all-${index}/deep/secret secret ${index}`,
        ]),
      ]),
    );
    expect(await lines(sh(node, id, 'ls -A /v/last; ls /v | wc -l'))).toEqual(['50']);
    const directory = await directoryOf(node, 'fifty');
    // In memory are the kinds secret, pod, all and memory.
    expect(mountsBelow(directory)).toHaveLength(28);
    node.withdraw('fifty');
    await gone(directory);
    expect(fileListing(path).filter((line) => line.includes('/file '))).toHaveLength(7);
  });

  it('arrive whole at 1 MiB, and a reader in the container never sees a mixture of two versions', async ({ node }) => {
    const HALF = 512 * 1024;
    const put = (version: string): void => {
      const text = `${version}\n`.repeat(HALF / (version.length + 1));
      expect(text).toHaveLength(HALF);
      putObjects(node, 'a-large.yaml', configMap('large', { one: text, two: text }));
    };
    // A line of 32 bytes divides the half.
    const versions = range(4).map((number) => `version-${number}`.padEnd(31, '.'));
    put(versions[0]!);
    node.apply({
      name: 'large',
      volumes: [
        { name: 'data', configMap: { name: 'large' } },
        { name: 'log', emptyDir: {} },
      ],
      containers: [
        {
          volumeMounts: [
            { name: 'data', mountPath: '/data' },
            { name: 'log', mountPath: '/log' },
          ],
          // A version that was entered may be removed in the middle, which ends a read with an error; the newest one is never removed.
          script: `exec 3< /data/one
while :; do
  cd -P /data/..data 2>/dev/null || continue
  if cat one two > /log/read 2>/dev/null; then echo "$(uniq /log/read) $(wc -c < /log/read)" >> /log/seen
  elif [ "$(readlink /data/..data)" = "$(basename "$(pwd -P)")" ]; then echo "a file is missing" >> /log/seen
  fi
done`,
        },
      ],
    });
    const { id } = await running(node, 'large');
    const isWhole = (version: string): string => `${version} ${2 * HALF}`;
    for (const version of versions) {
      if (version !== versions[0]) put(version);
      await eventually(`the reader has read ${version}`, async () =>
        (await sh(node, id, 'uniq /log/seen')).split('\n').includes(isWhole(version)),
      );
      expect(await sh(node, id, 'cat /data/one /data/two | uniq')).toBe(version);
    }
    expect(await lines(sh(node, id, 'uniq /log/seen'))).toEqual(versions.map(isWhole));
    // An open file stays as it was.
    expect(await sh(node, id, 'uniq /proc/1/fd/3')).toBe(versions[0]);
  });

  it('have a file for each of 500 keys, and lose and gain hundreds of them in one change', async ({ node }) => {
    const keys = (from: number, to: number, value: string): Readonly<Record<string, string>> =>
      Object.fromEntries(range(to - from).map((index) => [`key.${from + index}`, `${value} of ${from + index}\n`]));
    putObjects(node, 'a-keys.yaml', configMap('keys', keys(0, 500, 'first')));
    node.apply({
      name: 'keys',
      volumes: [{ name: 'data', configMap: { name: 'keys' } }],
      containers: [{ volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    });
    const { id } = await running(node, 'keys');
    const shown = (): Promise<string> => sh(node, id, 'cd /data && ls | wc -l && cat $(ls | sort -t. -n -k2)');
    const expected = (from: number, to: number, value: string): string =>
      `${to - from}\n${Object.values(keys(from, to, value)).join('')}`.trimEnd();
    expect(await shown()).toBe(expected(0, 500, 'first'));
    putObjects(node, 'a-keys.yaml', configMap('keys', keys(250, 750, 'second')));
    await eventually('the last of the new keys has its link', async () => await sh(node, id, 'cat /data/key.749'));
    // Links of removed keys go after the switch.
    await eventually('the files are those of the second version', async () => {
      expect(await shown()).toBe(expected(250, 750, 'second'));
      return true;
    });
  });
});

overContainerd('a container with a read-only root filesystem', () => {
  it('has its volumes at paths that its image does not have, and may write to those alone', async ({ node }) => {
    putObjects(node, 'a-sealed.yaml', configMap('sealed', { one: 'config' }), secret('sealed', { one: 'secret' }));
    node.apply({
      name: 'sealed',
      volumes: [
        { name: 'disk', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory' } },
        { name: 'config', configMap: { name: 'sealed' } },
        { name: 'secret', secret: { secretName: 'sealed' } },
      ],
      containers: [
        {
          securityContext: { readOnlyRootFilesystem: true },
          volumeMounts: [
            { name: 'disk', mountPath: '/not/in/the/image' },
            { name: 'memory', mountPath: '/not/in/memory' },
            { name: 'config', mountPath: '/etc/not/there/config' },
            { name: 'secret', mountPath: '/one/file', subPath: 'one' },
            // In a volume that is mounted before it.
            { name: 'config', mountPath: '/not/in/the/image/nested/config', subPath: 'one' },
          ],
        },
      ],
    });
    const { id } = await running(node, 'sealed');
    expect(await sh(node, id, 'cat /etc/not/there/config/one /one/file /not/in/the/image/nested/config')).toBe(
      'configsecretconfig',
    );
    expect(
      await lines(
        sh(
          node,
          id,
          `for folder in /not/in/the/image /not/in/memory / /etc /not/in /etc/not/there/config; do
  (echo here > $folder/new) 2>/dev/null && echo "$folder is writable" || true
done; (echo x > /one/file) 2>&1 || true`,
        ),
      ),
    ).toEqual([
      '/not/in/the/image is writable',
      '/not/in/memory is writable',
      "sh: can't create /one/file: Read-only file system",
    ]);
  });
});

overContainerd('a path with ".."', () => {
  it('is refused with the manifest, by the name of its field, and nothing of the pod starts', async ({ node }) => {
    for (const { name, volumes, container } of CLIMBING_PODS) {
      node.apply({ name, ...(volumes && { volumes }), ...(container && { containers: [container] }) });
    }
    for (const { name, field, path } of CLIMBING_PODS) {
      const text = `${field}: is ${JSON.stringify(path)} (expected a path without "..")`;
      await eventually(`the log names ${field}`, () =>
        node.logged().some((line) => JSON.stringify(line).includes(`${name}.yaml`) && textsOf(line).includes(text)),
      );
      expect(await node.containersOf(name)).toEqual([]);
    }
    putObjects(node, 'a-climbing.yaml', configMap('climbing', { '../../sentinel/new': 'x' }));
    await eventually('the log names the key', () =>
      node
        .logged()
        .some((line) => textsOf(line).includes('data["../../sentinel/new"]: is "../../sentinel/new" (expected')),
    );
    node.write('a-climbing.yaml', '# nothing\n');
    for (const { name } of CLIMBING_PODS) node.withdraw(name);
  });

  it('is refused by the container if a variable brings it', async ({ node }) => {
    node.apply({
      name: 'climbs',
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [
        {
          env: [{ name: 'UP', value: '../../../../../sentinel' }],
          volumeMounts: [{ name: 'data', mountPath: '/data', subPathExpr: '$(UP)/new' }],
        },
      ],
    });
    await eventually('the status says so', async () => {
      expect(await node.waiting('climbs')).toEqual({
        reason: 'CreateContainerConfigError',
        message: "unable to provision SubPath `../../../../../sentinel/new`: must not contain '..'",
      });
      return true;
    });
    expect(await node.containersOf('climbs')).toEqual([]);
    node.withdraw('climbs');
  });
});

const textsOf = (line: object): string => Object.values(line).map(String).join('\n');

/** Makes a pipe, a socket that counts its clients, and two devices that no driver has. */
const specialFiles = async (node: ContainerdNode, path: string): Promise<{ readonly clients: () => number }> => {
  let clients = 0;
  execFileSync('mkfifo', ['-m', '666', join(path, 'pipe')]);
  execFileSync('mknod', ['-m', '666', join(path, 'char'), 'c', '1', '3']);
  execFileSync('mknod', [join(path, 'block'), 'b', '7', '250']);
  const server = createServer(() => (clients += 1)).listen(join(path, 'socket'));
  node.beforeDispose(() => new Promise((resolve) => server.close(resolve)));
  await eventually('the socket is there', () => server.listening);
  return { clients: () => clients };
};

overContainerd('a pipe, a socket and a device', () => {
  it('are neither directories nor files, and are not touched by the check', async ({ node }) => {
    const path = folder(node, 'special');
    const { clients } = await specialFiles(node, path);
    const before = fileListing(path);
    const special = ['pipe', 'socket', 'char', 'block'];
    const volumes = special.flatMap((name) =>
      ['Directory', 'File'].map((type) => ({
        name: `${name}-${type.toLowerCase()}`,
        hostPath: { type, path: join(path, name) },
      })),
    );
    node.apply({
      name: 'special',
      volumes,
      containers: [{ volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) }],
    });
    const texts = volumes.map(
      ({ name, hostPath: { type, path } }) =>
        `MountVolume.SetUp failed for volume "${name}" : hostPath type check failed: ${path} is not a ${type.toLowerCase()}`,
    );
    await eventually('each has its event', () => {
      expect(new Set(failedMounts(node, 'special'))).toEqual(new Set(texts));
      return true;
    });
    expect(await node.containersOf('special')).toEqual([]);
    node.withdraw('special');
    expect(fileListing(path)).toEqual(before);
    expect(clients()).toBe(0);
  });

  it('are mounted as they are by a sub-path, are not opened for it, and lead nowhere', async ({ node }) => {
    const path = folder(node, 'special-sub');
    const { clients } = await specialFiles(node, path);
    const before = fileListing(path);
    const at = (name: string, subPath: string): ContainerOf => ({
      name,
      volumeMounts: [{ name: 'data', mountPath: `/${name}`, subPath }],
    });
    const special = ['pipe', 'socket', 'char', 'block'];
    node.apply({
      name: 'special-sub',
      volumes: [{ name: 'data', hostPath: { path } }],
      containers: [
        { volumeMounts: special.map((name) => ({ name: 'data', mountPath: `/m/${name}`, subPath: name })) },
        ...special.map((name) => at(`below-${name}`, `${name}/below`)),
      ],
    });
    const { id } = await running(node, 'special-sub');
    expect(await lines(sh(node, id, 'cd /m; stat -c "%n: %F" *'))).toEqual([
      'block: block special file',
      'char: character special file',
      'pipe: fifo',
      'socket: socket',
    ]);
    for (const name of special) {
      await eventually(`below ${name} there is nothing`, async () => {
        expect(await node.waiting('special-sub', `below-${name}`)).toEqual({
          reason: 'CreateContainerConfigError',
          message: `failed to prepare subPath for volumeMount "data" of container "below-${name}"`,
        });
        return true;
      });
    }
    expect(fileListing(path)).toEqual(before);
    expect(clients()).toBe(0);
    // The pipe is that of the machine.
    await sh(node, id, 'cat /m/pipe > /tmp/read & echo through > /m/pipe; wait; grep through /tmp/read');
    const directory = await directoryOf(node, 'special-sub');
    expect(mountsBelow(directory)).toHaveLength(special.length);
    node.withdraw('special-sub');
    await gone(directory);
    expect(fileListing(path).map((line) => line.split(' ')[0])).toEqual(before.map((line) => line.split(' ')[0]));
  });
});

overContainerd(
  'the machine, when all of these pods are gone,',
  () => {
    it('has nothing mounted of them, and its files are as they were', async ({ node }) => {
      for (const pod of ['fifty', 'large', 'keys', 'sealed', 'special', 'special-sub', 'climbs']) node.withdraw(pod);
      const pods = join(node.rootDir, 'pods');
      await eventually('no pod has a directory', () => {
        expect(fileListing(pods)).toHaveLength(1);
        return true;
      });
      expect(mountsBelow(pods)).toEqual([]);
      expect(untouched.length).toBeGreaterThan(5);
      expect(fileListing(sentinel(node))).toEqual(untouched);
    });
  },
  { alone: true },
);
