import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { expect } from 'vitest';
import { criClient } from '../../src/runtime/cri-client.js';
import { eventually } from '../embedded/eventually.js';
import { BUSYBOX, type ContainerdNode, it, NAMED, SERVER } from './containerd-node.js';
import { overContainerd } from './missing.js';

const SLOW_MACHINE_MS = 480_000;
const PAUSE = 'stage.test/pause:1';

const OF_TEST = [BUSYBOX, NAMED, PAUSE, SERVER];

/** Those images of the test that the runtime has. */
const imagesOf = async (node: ContainerdNode): Promise<string[]> => {
  const { images, close } = criClient({ endpoint: `unix://${join(node.stage, 'containerd.sock')}` });
  try {
    const { images: listed } = await firstValueFrom(images.listImages({}));
    const names = listed.flatMap(({ repoTags }) => repoTags);
    return names.filter((name) => OF_TEST.includes(name)).toSorted();
  } finally {
    close();
  }
};

/** The number of rounds that reported that they did not make room enough. */
const passes = (node: ContainerdNode): number =>
  node.journal().filter((entry) => entry.kind === 'event' && entry.reason === 'FreeDiskSpaceFailed').length;

/** Sees to it that the disk with the node's images is at least 2 % full, as an empty one has no garbage to collect. */
const fill = (node: ContainerdNode): void => {
  const { blocks, bavail, bsize } = statfsSync(node.stage);
  if (bavail / blocks < 0.98) return;
  execFileSync('fallocate', ['--length', String(Math.ceil(blocks * bsize * 0.02)), join(node.directory, 'filling')]);
};

overContainerd('images', () => {
  it(
    'that no container uses make room; those of containers, ended ones too, and of sandboxes stay',
    { timeout: SLOW_MACHINE_MS },
    async ({ node }) => {
      node.apply({ name: 'running', containers: [{ image: BUSYBOX }] });
      node.apply({ name: 'ended', restartPolicy: 'Never', containers: [{ image: NAMED, script: 'exit 0' }] });
      await node.start();
      const { id } = await node.reached('running', 'CONTAINER_RUNNING');
      await node.reached('ended', 'CONTAINER_EXITED');
      expect(await imagesOf(node)).toEqual(OF_TEST.toSorted());
      await node.kill('SIGTERM');

      fill(node);
      // The disk is fuller than that, and images need not be old. Whether an image is older than the first pass depends on
      // which of two looks at the images is answered first, and the next pass comes after five minutes: another start has another.
      const fields = { imageMinimumGCAge: '1ns', imageGCHighThresholdPercent: 1, imageGCLowThresholdPercent: 0 };
      await eventually('the unused image has gone', async () => {
        const before = passes(node);
        await node.start('--config', node.configuration(fields));
        await eventually('a round is over', () => passes(node) > before);
        if (!(await imagesOf(node)).includes(SERVER)) return true;
        await node.kill('SIGTERM');
        return false;
      });
      expect(await imagesOf(node)).toEqual([BUSYBOX, NAMED, PAUSE].toSorted());
      await eventually('that it was not enough is reported', () => {
        const events = node.journal().filter((entry) => entry.kind === 'event' && entry.pod === undefined);
        const message = expect.stringMatching(/^Insufficient free disk space .* \(freed [1-9]\d* bytes\)/) as string;
        expect(events).toContainEqual(
          expect.objectContaining({ type: 'Warning', reason: 'FreeDiskSpaceFailed', message }),
        );
        return true;
      });
      const { body } = await node.get('/metrics');
      expect(body).toMatch(/^kubelet_image_garbage_collected_total\{reason="space"\} [1-9]/m);

      // What is left is enough to go on with, and nothing that ran was disturbed.
      node.apply({ name: 'next', containers: [{ image: BUSYBOX, imagePullPolicy: 'Never' }] });
      await node.reached('next', 'CONTAINER_RUNNING');
      expect(await node.reached('running', 'CONTAINER_RUNNING')).toMatchObject({ id });
    },
  );
});
