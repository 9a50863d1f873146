import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { expect, it as baseIt } from 'vitest';
import type { Image } from '../../src/generated/runtime/v1/api.js';
import type { PulledRecord } from '../../src/model/images/pulled-record.js';
import { criClient } from '../../src/runtime/cri-client.js';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import type { ContainerOf } from '../embedded/manifests.js';
import { BUSYBOX, ContainerdNode, it, NAMED } from './containerd-node.js';
import { overContainerd } from './missing.js';
import type { Registries } from './registries.js';

/** What the runtime has under this name; undefined for nothing. */
const imageOf = async ({ stage }: ContainerdNode, image: string): Promise<Image | undefined> => {
  const { images, close } = criClient({ endpoint: `unix://${join(stage, 'containerd.sock')}` });
  try {
    return (await firstValueFrom(images.imageStatus({ image: { image } }))).image;
  } finally {
    close();
  }
};

/** A pod of one container that asks for its image in this way. */
const wants = (node: ContainerdNode, name: string, image: string, imagePullPolicy: string): void =>
  node.apply({ name, containers: [{ image, imagePullPolicy } satisfies ContainerOf] });

const waiting = async (node: ContainerdNode, name: string) => {
  const pod = (await node.shownPods()).find(({ metadata }) => metadata.name === `${name}-${NODE_NAME}`);
  return pod?.status?.containerStatuses?.[0]?.state?.waiting;
};

/** `reason: message` of each event about the pod. */
const eventsOf = (node: ContainerdNode, name: string): readonly string[] =>
  node
    .journal()
    .flatMap((entry) =>
      entry.kind === 'event' && entry.pod?.name === `${name}-${NODE_NAME}` ? [`${entry.reason}: ${entry.message}`] : [],
    );

const eventOf = (node: ContainerdNode, name: string, begin: string): Promise<string> =>
  eventually(`${name} has an event "${begin}..."`, () => eventsOf(node, name).find((event) => event.startsWith(begin)));

/** Passwords of the locked registry, by repository: the right one for busybox, a wrong one for server, none for others. */
const passwordsFor = ({ locked: { address, username, password } }: Registries) => ({
  [`http://${address}/v2/busybox`]: { auth: Buffer.from(`${username}:${password}`).toString('base64') },
  [`${address}/server`]: { username, password: 'a-wrong-one' },
});

/** `it` with one agent for all such tests of this file; it has a docker configuration in its root directory. */
const onOneNode = baseIt.extend<{ readonly node: ContainerdNode; readonly registries: Registries }>({
  node: [
    async ({}, use) => {
      const node = new ContainerdNode();
      try {
        await node.startRuntime();
        const auths = passwordsFor(await node.registries());
        writeFileSync(join(node.rootDir, 'config.json'), JSON.stringify({ auths }));
        await node.start();
        await use(node);
      } finally {
        await node.dispose();
      }
    },
    { scope: 'file' },
  ],
  registries: async ({ node }, use) => use(await node.registries()),
});

/** A registry that takes connections and never answers. */
const hangingRegistry = async (): Promise<{ readonly server: Server; readonly address: string }> => {
  const server = createServer((socket) => socket.on('error', () => socket.destroy())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
};

overContainerd(
  'the pull policy of an image',
  () => {
    onOneNode('decides whether it is pulled, and what is said of it', async ({ node, registries: registry }) => {
      const absent = `${registry.open}/server:1`;
      expect(await imageOf(node, absent)).toBeUndefined();
      wants(node, 'always', `${registry.open}/busybox:1`, 'Always');
      wants(node, 'absent', absent, 'IfNotPresent');
      // It is pulled by no test on this node, since an image counts by what is in it.
      const there = { image: NAMED, imagePullPolicy: 'IfNotPresent' };
      node.apply({ name: 'there', containers: [there, { ...there, name: 'never', imagePullPolicy: 'Never' }] });
      wants(node, 'none', 'stage.test/none:1', 'Never');
      wants(node, 'invalid', 'stage.test/Upper:1', 'IfNotPresent');

      const running = (pod: string, name = 'main') => node.reached(pod, 'CONTAINER_RUNNING', { name });
      await Promise.all([running('always'), running('absent'), running('there'), running('there', 'never')]);
      const image = await imageOf(node, absent);
      expect(image?.repoTags).toContain(absent);
      const pulled = await eventOf(node, 'absent', 'Pulled');
      expect(pulled).toMatch(
        new RegExp(
          `^Pulled: Successfully pulled image "${absent}" in [\\dms.]+s \\([\\dms.]+s including waiting\\)\\. ` +
            `Image size: ${image?.size} bytes\\.$`,
        ),
      );
      const found = (name: string) =>
        `Pulled: Container image "${name}" already present on machine and can be accessed by the pod`;
      expect(eventsOf(node, 'there').filter((event) => event.startsWith('Pulled'))).toEqual([
        found(NAMED),
        found(NAMED),
      ]);

      const invalid =
        'Failed to apply default image tag "stage.test/Upper:1": couldn\'t parse image name "stage.test/Upper:1": ' +
        'invalid reference format: repository name (Upper) must be lowercase';
      await eventually('what is wrong is shown', async () => {
        expect(await waiting(node, 'none')).toEqual({
          reason: 'ErrImageNeverPull',
          message: 'Container image "stage.test/none:1" is not present with pull policy of Never',
        });
        expect(await waiting(node, 'invalid')).toEqual({ reason: 'InvalidImageName', message: invalid });
        return true;
      });
      expect(eventsOf(node, 'invalid')).toEqual(
        expect.arrayContaining([`InspectFailed: ${invalid}`, 'Failed: Error: InvalidImageName']),
      );
      expect((await node.containersOf('none')).concat(await node.containersOf('invalid'))).toEqual([]);

      // An image that is there is asked for again only with Always.
      const asked = (path: string) => registry.served('open').filter((line) => line.startsWith(`HEAD ${path}`)).length;
      const before = [asked('/v2/busybox/manifests/1'), asked('/v2/server/manifests/1')];
      wants(node, 'again', `${registry.open}/busybox:1`, 'Always');
      wants(node, 'not-again', absent, 'IfNotPresent');
      await Promise.all([running('again'), running('not-again')]);
      expect([asked('/v2/busybox/manifests/1'), asked('/v2/server/manifests/1')]).toEqual([before[0]! + 1, before[1]]);

      // What was pulled without a password is for every pod of the node, and that outlives the agent.
      expect(await eventOf(node, 'not-again', 'Pulled')).toBe(found(absent));
      const folder = join(node.rootDir, 'image_manager', 'pulled');
      const records = readdirSync(folder).map(
        (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as PulledRecord,
      );
      expect(records.find(({ imageRef }) => imageRef === image?.id)?.credentialMapping).toEqual({
        [`${registry.open}/server`]: { nodePodsAccessible: true },
      });
    });
  },
  { alone: true },
);

overContainerd(
  'a pull that fails',
  () => {
    onOneNode('says why, backs off, and says why still', async ({ node, registries: registry }) => {
      const image = `${registry.open}/none:1`;
      wants(node, 'gone', image, 'IfNotPresent');
      const failed = await eventOf(node, 'gone', 'Failed: Failed to pull image');
      const why = failed.slice(`Failed: Failed to pull image "${image}": `.length);
      expect(why).toMatch(/^rpc error: code = NotFound desc = failed to pull and unpack image .*: not found$/);
      expect(await eventOf(node, 'gone', 'Failed: Error: ')).toBe('Failed: Error: ErrImagePull');
      await eventually('the next try waits', async () => {
        expect(await waiting(node, 'gone')).toEqual({
          reason: 'ImagePullBackOff',
          message: `Back-off pulling image "${image}": ErrImagePull: ${why}`,
        });
        return true;
      });
      expect(await eventOf(node, 'gone', 'BackOff')).toBe(`BackOff: Back-off pulling image "${image}"`);
      expect(await node.containersOf('gone')).toEqual([]);
    });
  },
  { alone: true },
);

overContainerd(
  'a registry with a password',
  () => {
    onOneNode(
      'lets in a node with the password in its docker configuration, and no other',
      async ({ node, registries }) => {
        const { address, password } = registries.locked;
        wants(node, 'right', `${address}/busybox:1`, 'Always');
        wants(node, 'wrong', `${address}/server:1`, 'Always');
        wants(node, 'without', `${address}/named:1`, 'Always');
        await node.reached('right', 'CONTAINER_RUNNING');
        expect((await imageOf(node, `${address}/busybox:1`))?.repoTags).toContain(`${address}/busybox:1`);
        expect(registries.served('locked')).toContain('HEAD /v2/busybox/manifests/1 200');

        for (const name of ['wrong', 'without']) {
          const failed = await eventOf(node, name, 'Failed: Failed to pull image');
          expect(failed).toMatch(/401 Unauthorized|authorization failed/);
          expect(await node.containersOf(name)).toEqual([]);
        }
        for (const image of ['server:1', 'named:1']) expect(await imageOf(node, `${address}/${image}`)).toBeUndefined();

        const everything = node.log + JSON.stringify(node.journal()) + JSON.stringify(await node.shownPods());
        const { auth } = passwordsFor(registries)[`http://${address}/v2/busybox`]!;
        for (const secret of [`"${password}"`, 'a-wrong-one', auth]) expect(everything).not.toContain(secret);
      },
    );
  },
  { alone: true },
);

overContainerd(
  'an image that is there',
  () => {
    it('is only for pods that have pulled it if the node says so', async ({ node }) => {
      wants(node, 'preloaded', BUSYBOX, 'Never');
      await node.start('--config', node.configuration({ imagePullCredentialsVerificationPolicy: 'AlwaysVerify' }));
      expect(await eventOf(node, 'preloaded', 'ErrImageNeverPull')).toBe(
        `ErrImageNeverPull: Container image "${BUSYBOX}" is not present with pull policy of Never`,
      );
      expect((await imageOf(node, BUSYBOX))?.repoTags).toContain(BUSYBOX);
      expect(await node.containersOf('preloaded')).toEqual([]);
    });
  },
  { alone: true },
);

overContainerd(
  'a pull that hangs',
  () => {
    it('holds up others while pulls go one after the other, until its pod is removed', async ({ node }) => {
      const registry = await node.registries();
      const { server, address } = await hangingRegistry();
      node.beforeDispose(async () => server.close());
      const connected = once(server, 'connection');
      const asked = () => registry.served('open').filter((line) => line === 'HEAD /v2/server/manifests/1 200').length;
      wants(node, 'hangs', `${address}/app:1`, 'Always');
      await node.start();
      await connected;
      wants(node, 'waits', `${registry.open}/server:1`, 'Always');
      await eventOf(node, 'waits', 'Pulling');
      wants(node, 'needs-none', BUSYBOX, 'IfNotPresent');
      await node.reached('needs-none', 'CONTAINER_RUNNING');
      expect(asked()).toBe(0);
      expect(await node.containersOf('waits')).toEqual([]);

      node.delete('hangs.yaml');
      await node.reached('waits', 'CONTAINER_RUNNING');
      expect(asked()).toBe(1);
      // Its sandbox may be removed already.
      await eventually(
        'its pod has stopped',
        async () => !(await node.tracesOf('hangs')).includes('sandbox SANDBOX_READY'),
      );
    });

    it('holds up no pod that does not need them', async ({ node }) => {
      const registry = await node.registries();
      const { server, address } = await hangingRegistry();
      node.beforeDispose(async () => server.close());
      const connected = once(server, 'connection');
      wants(node, 'hangs', `${address}/app:1`, 'Always');
      await node.start('--config', node.configuration({ serializeImagePulls: false, maxParallelImagePulls: 2 }));
      await connected;
      wants(node, 'other', `${registry.open}/server:1`, 'Always');
      await node.reached('other', 'CONTAINER_RUNNING');
      expect(await node.containersOf('hangs')).toEqual([]);
      expect(await waiting(node, 'hangs')).toMatchObject({ reason: 'ContainerCreating' });
    });
  },
  { alone: true },
);
