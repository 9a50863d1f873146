import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { killProcess } from '../support/kill-process.js';
import { type ContainerdNode, it } from './containerd-node.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
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

/** A pod with a volume of each kind that has something mounted, and with sub-paths. */
const apply = (node: ContainerdNode, name: string): void =>
  node.apply({
    name,
    volumes: [
      { name: 'disk', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '2Mi' } },
      { name: 'config', configMap: { name: 'config' } },
      { name: 'secret', secret: { secretName: 'secret' } },
      { name: 'downward', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    ],
    containers: [
      {
        volumeMounts: [
          ...['disk', 'memory', 'config', 'secret', 'downward'].map((volume) => ({
            name: volume,
            mountPath: `/${volume}`,
          })),
          { name: 'disk', mountPath: '/sub', subPath: 'a/b' },
          { name: 'config', mountPath: '/file', subPath: 'one' },
        ],
      },
    ],
  });

const objects = (node: ContainerdNode, value: string): void =>
  putObjects(node, 'a-objects.yaml', configMap('config', { one: value }), secret('secret', { one: value }));

const read = (node: ContainerdNode, id: string): Promise<string> =>
  sh(node, id, 'cat /disk/file /memory/file /sub/file /config/one /secret/one /downward/name /file');

const write = (node: ContainerdNode, id: string): Promise<string> =>
  sh(node, id, 'echo disk > /disk/file; echo memory > /memory/file; echo sub > /sub/file');

overContainerd('volumes and a killed agent', () => {
  it('stay as they are while no agent runs, and are neither lost nor mounted twice by the next', async ({ node }) => {
    objects(node, 'first');
    apply(node, 'kept');
    await node.start(...quickRestarts(node));
    const { id, pid } = await running(node, 'kept');
    await write(node, id);
    const content = await read(node, id);
    expect(content).toBe(['disk', 'memory', 'sub', 'firstfirstkept-node1first'].join('\n'));
    const directory = await directoryOf(node, 'kept');
    const mounted = mountsBelow(directory).toSorted();
    expect(mounted).toHaveLength(5);

    for (let life = 0; life < 3; life += 1) {
      await node.kill('SIGKILL');
      expect(await read(node, id)).toBe(content);
      await node.start(...quickRestarts(node));
      // A change of the object shows that the volumes of the pod are in hand again.
      objects(node, `life${life}`);
      await eventually('the container sees it', async () => (await sh(node, id, 'cat /config/one')) === `life${life}`);
      await eventually('also the other', async () => (await sh(node, id, 'cat /secret/one')) === `life${life}`);
      expect(mountsBelow(directory).toSorted()).toEqual(mounted);
      objects(node, 'first');
      await eventually('it is as before', async () => (await read(node, id)) === content);
    }
    expect((await running(node, 'kept')).pid).toBe(pid);

    // The next instance has the same volumes.
    killProcess(pid);
    const next = await node.reached('kept', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(await read(node, next.id)).toBe(content);
    expect(mountsBelow(directory).toSorted()).toEqual(mounted);
    expect(failedMounts(node, 'kept')).toEqual([]);
    node.withdraw('kept');
    await gone(directory);
  });

  it('show an edit that was made while no agent ran, and go with a pod that was deleted meanwhile', async ({
    node,
  }) => {
    objects(node, 'first');
    apply(node, 'edited');
    apply(node, 'deleted');
    await node.start(...quickRestarts(node));
    const { id } = await running(node, 'edited');
    await write(node, (await running(node, 'deleted')).id);
    const [directory, lost] = [await directoryOf(node, 'edited'), await directoryOf(node, 'deleted')];
    await node.kill('SIGKILL');
    objects(node, 'second');
    node.delete('deleted.yaml');
    expect(mountsBelow(lost)).toHaveLength(5);
    await node.start(...quickRestarts(node));
    await eventually(
      'the edit is seen',
      async () => (await sh(node, id, 'cat /config/one /secret/one')) === 'secondsecond',
    );
    await gone(lost);
    expect(mountsBelow(directory)).toHaveLength(5);
    // A busy machine may take its time for the first relist.
    const isLateStart = (line: object): boolean => JSON.stringify(line).includes('pleg has yet to be successful');
    expect(node.logged().filter((line) => line.level === 'error' && !isLateStart(line))).toEqual([]);
  });

  it('go with a pod that lost its containers, too, while no agent ran', async ({ node }) => {
    objects(node, 'first');
    apply(node, 'removed');
    await node.start(...quickRestarts(node));
    const { id } = await running(node, 'removed');
    const directory = await directoryOf(node, 'removed');
    await node.kill('SIGKILL');
    const podSandboxId = (await node.sandboxOf('removed')).id;
    await node.ask((runtime) => runtime.stopPodSandbox({ podSandboxId }));
    await node.ask((runtime) => runtime.removePodSandbox({ podSandboxId }));
    expect((await node.containers()).map((container) => container.id)).not.toContain(id);
    node.delete('removed.yaml');
    expect(mountsBelow(directory)).toHaveLength(5);
    await node.start(...quickRestarts(node));
    await gone(directory);
  });

  it('converge although agents are killed at any moment of mounts, updates and unmounts', async ({ node }) => {
    objects(node, '0');
    const pods = ['one', 'two'];
    for (const pod of pods) apply(node, pod);
    const steps = () => node.journal().filter(({ kind }) => kind === 'volume').length;
    for (let life = 0; life < 15; life += 1) {
      const before = steps();
      objects(node, String(life));
      if (life % 4 === 3) node.withdraw('two');
      else apply(node, 'two');
      node.spawn('--pod-manifest-path', node.manifests, ...quickRestarts(node));
      // Each life mounts the five volumes of `one`, or finds them mounted.
      await eventually('the agent has done some steps', () => steps() > before + (life % 5));
      await node.kill('SIGKILL');
    }
    apply(node, 'two');
    objects(node, 'last');
    await node.start(...quickRestarts(node));
    for (const pod of pods) {
      const { id } = await running(node, pod);
      await eventually(
        'it has its newest content',
        async () => (await sh(node, id, 'cat /config/one /secret/one')) === 'lastlast',
      );
      const directory = await directoryOf(node, pod);
      const mounted = mountsBelow(directory);
      expect(new Set(mounted).size).toBe(mounted.length);
      expect(mounted).toHaveLength(5);
    }
    for (const pod of pods) node.withdraw(pod);
    const root = join(node.rootDir, 'pods');
    await eventually('no directory is left', () => {
      expect(existsSync(root) ? readdirSync(root) : []).toEqual([]);
      return true;
    });
    expect(mountsBelow(node.rootDir)).toEqual([]);
  });
});
