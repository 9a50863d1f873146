import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { killProcess } from '../support/kill-process.js';
import { type ContainerdNode, it } from './containerd-node.js';
import { overContainerd } from './missing.js';

const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Takes from the file of a container what containerd wrote at its start, as a loss of power does with a rename that was not synced. */
const forgetStart = (node: ContainerdNode, id: string): void => {
  const path = join(node.stage, 'root/io.containerd.grpc.v1.cri/containers', id, 'status');
  const { Version, CreatedAt } = JSON.parse(readFileSync(path, 'utf8')) as { Version: string; CreatedAt: number };
  writeFileSync(path, JSON.stringify({ Version, CreatedAt }));
};

overContainerd(
  'a loss of power after which containerd has forgotten the start of a container',
  () => {
    it('does not run it again under Never, and does so under OnFailure', async ({ node }) => {
      for (const [name, restartPolicy] of [
        ['once', 'Never'],
        ['again', 'OnFailure'],
      ] as const)
        node.apply({ name, restartPolicy, containers: [{}] });
      await node.start();
      const started = {
        once: await node.reached('once', 'CONTAINER_RUNNING'),
        again: await node.reached('again', 'CONTAINER_RUNNING'),
      };
      const uid = (await node.sandboxOf('once')).metadata?.uid ?? '';
      const mark = join(node.rootDir, 'pods', uid, 'begun-starts', started.once.id);
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      expect(readdirSync(mark)).toEqual([boot]);
      expect(
        readdirSync(join(node.rootDir, 'pods', (await node.sandboxOf('again')).metadata?.uid ?? '')),
      ).not.toContain('begun-starts');

      const pods = await Promise.all(
        (['once', 'again'] as const).map(async (name) => ({
          container: await node.pidOf(started[name].id),
          sandbox: await node.sandboxPid((await node.sandboxOf(name)).id),
        })),
      );
      await Promise.all([node.kill('SIGKILL'), node.killRuntime('SIGKILL')]);
      for (const { container, sandbox } of pods)
        for (const pid of [parentOf(sandbox), container, sandbox]) killProcess(pid, 'SIGKILL');
      forgetStart(node, started.once.id);
      forgetStart(node, started.again.id);
      renameSync(join(mark, boot), join(mark, 'a-former-boot'));

      await node.startRuntime();
      const shown = (await node.containers()).filter(({ id }) => Object.values(started).some((one) => one.id === id));
      expect(shown.map(({ state }) => state)).toEqual(['CONTAINER_CREATED', 'CONTAINER_CREATED']);
      await node.start();
      await eventually('the one under OnFailure runs again', async () =>
        (await node.containers()).some(
          ({ id, pod, state }) =>
            pod === `again-${NODE_NAME}` && id !== started.again.id && state === 'CONTAINER_RUNNING',
        ),
      );
      await eventually(
        'the one under Never has failed',
        async () => (await node.podStatus('once'))?.phase === 'Failed',
      );
      expect((await node.podStatus('once'))?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        containerID: expect.stringContaining(started.once.id) as unknown,
      });
      expect((await node.containers()).filter(({ pod }) => pod === `once-${NODE_NAME}`)).toHaveLength(1);
    });
  },
  { alone: true },
);
