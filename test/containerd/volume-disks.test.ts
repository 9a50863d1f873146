import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { fileListing } from '../support/file-listing.js';
import { ContainerdNode } from './containerd-node.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { itOnShared } from './shared-node.js';
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

const podsOf = (node: ContainerdNode): string => join(node.rootDir, 'pods');

/** `it` with a node whose pods have a small disk of their own; the journal, which has the events, is on another one. */
const it = itOnShared(async () => {
  const node = new ContainerdNode();
  return {
    node,
    prepare: async () => {
      mkdirSync(podsOf(node));
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', podsOf(node)]);
    },
    start: () => node.start(...quickRestarts(node)),
  };
});

const remount = (node: ContainerdNode, how: 'ro' | 'rw'): void =>
  void execFileSync('mount', ['-o', `remount,${how}`, podsOf(node)]);

/** A pod with files on the disk and in memory, and with room of its own. */
const apply = (node: ContainerdNode, name: string): void =>
  node.apply({
    name,
    volumes: [
      { name: 'config', configMap: { name: 'config' } },
      { name: 'secret', secret: { secretName: 'secret' } },
      { name: 'disk', emptyDir: {} },
    ],
    containers: [
      { volumeMounts: ['config', 'secret', 'disk'].map((volume) => ({ name: volume, mountPath: `/${volume}` })) },
    ],
  });

const CONFIG_BYTES = 400_000;
/** The content of the ConfigMap and the Secret: of a version, and too large for the room that is left on a full disk. */
const put = (node: ContainerdNode, version: string): void =>
  putObjects(
    node,
    'a-objects.yaml',
    configMap('config', { version, large: version.repeat(CONFIG_BYTES) }),
    secret('secret', { version }),
  );
const versionsIn = (node: ContainerdNode, id: string): Promise<string> =>
  sh(node, id, 'cat /config/version /secret/version; head -c 1 /config/large; wc -c < /config/large');

const failedUpdate = async (node: ContainerdNode, pod: string, code: string): Promise<void> => {
  const path = `${await directoryOf(node, pod)}/volumes/kubernetes.io~configmap/config/`;
  await eventually('the event names the path', () =>
    failedMounts(node, pod).some(
      (text) => text.startsWith('MountVolume.SetUp failed for volume "config" : ' + code) && text.includes(path),
    ),
  );
};

overContainerd(
  'a disk that is full for a while',
  () => {
    it('leaves the files of running pods as they were, is named by events, and all goes on once there is room', async ({
      node,
    }) => {
      put(node, '1');
      apply(node, 'fills');
      const { id } = await running(node, 'fills');
      expect(await versionsIn(node, id)).toBe(`111${CONFIG_BYTES}`);
      expect(await sh(node, id, 'dd if=/dev/zero of=/disk/ballast bs=64k 2>&1 || true')).toContain('No space left');
      put(node, '2');
      apply(node, 'waits');
      await failedUpdate(node, 'fills', 'ENOSPC: no space left on device');
      // A volume in memory has room.
      await eventually('the Secret is new', async () => (await versionsIn(node, id)) === `121${CONFIG_BYTES}`);
      // An attempt has a directory of its own as long as it runs.
      await eventually('nothing is left of the attempts', async () => {
        expect(await sh(node, id, 'ls /config; ls -A /config | wc -l')).toBe('large\nversion\n4');
        return true;
      });
      await eventually('the other pod has its event', () =>
        failedMounts(node, 'waits').some((text) =>
          /^MountVolume\.SetUp failed for volume "config" : ENOSPC: no space left on device, /.test(text),
        ),
      );
      expect(await node.containersOf('waits')).toEqual([]);
      await sh(node, id, 'rm /disk/ballast');
      await eventually('the files are new', async () => (await versionsIn(node, id)) === `222${CONFIG_BYTES}`);
      const other = await running(node, 'waits');
      expect(await versionsIn(node, other.id)).toBe(`222${CONFIG_BYTES}`);
      expect((await node.containersOf('fills')).map(({ attempt }) => attempt)).toEqual([0]);
      const directories = [await directoryOf(node, 'fills'), await directoryOf(node, 'waits')];
      for (const pod of ['fills', 'waits']) node.withdraw(pod);
      for (const directory of directories) await gone(directory);
    });
  },
  { alone: true },
);

overContainerd(
  'a disk that is read-only for a while',
  () => {
    it('stops no running pod, is named by events, and the agent makes up for everything afterwards', async ({
      node,
    }) => {
      put(node, '3');
      apply(node, 'reads');
      apply(node, 'leaves');
      const { id } = await running(node, 'reads');
      const [directory, leaving] = [await directoryOf(node, 'reads'), await directoryOf(node, 'leaves')];
      const mounted = mountsBelow(directory);
      remount(node, 'ro');
      const before = fileListing(join(directory, 'volumes/kubernetes.io~configmap'));
      put(node, '4');
      apply(node, 'comes');
      node.withdraw('leaves');
      await failedUpdate(node, 'reads', 'EROFS: read-only file system');
      await eventually('the Secret is new', async () => (await versionsIn(node, id)) === `343${CONFIG_BYTES}`);
      const text = `Failed: error making pod data directories: EROFS: read-only file system, mkdir '${podsOf(node)}/`;
      await eventually('the other pod has its event', () =>
        eventsOf(node, 'comes').some((warning) => warning.startsWith(text)),
      );
      await eventually('the log names the volume that cannot go', () =>
        node
          .logged()
          .some((line) => line.message === 'a volume could not be taken down' && /EROFS/.test(JSON.stringify(line))),
      );
      expect(await node.containersOf('comes')).toEqual([]);
      expect(fileListing(join(directory, 'volumes/kubernetes.io~configmap'))).toEqual(before);
      expect(existsSync(leaving)).toBe(true);
      remount(node, 'rw');
      await eventually('the files are new', async () => (await versionsIn(node, id)) === `444${CONFIG_BYTES}`);
      await gone(leaving);
      expect(await versionsIn(node, (await running(node, 'comes')).id)).toBe(`444${CONFIG_BYTES}`);
      expect(mountsBelow(directory)).toEqual(mounted);
      expect((await node.containersOf('reads')).map(({ attempt }) => attempt)).toEqual([0]);
      const coming = await directoryOf(node, 'comes');
      for (const pod of ['reads', 'comes']) node.withdraw(pod);
      for (const path of [directory, coming]) await gone(path);
      expect(mountsBelow(podsOf(node))).toEqual([podsOf(node)]);
    });
  },
  { alone: true },
);

/** The reasons and messages of all events of a pod. */
const eventsOf = (node: ContainerdNode, pod: string): readonly string[] =>
  node
    .journal()
    .flatMap((entry) =>
      entry.kind === 'event' && entry.pod?.name.startsWith(`${pod}-`) ? [`${entry.reason}: ${entry.message}`] : [],
    );
