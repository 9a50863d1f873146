import { closeSync, openSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { it } from './daemon.js';
import { eventually } from './eventually.js';

/** Processes other than this one that have the file open, with their descriptors. */
const holders = (path: string): string[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .flatMap((pid) => {
      try {
        const descriptors = readdirSync(`/proc/${pid}/fd`);
        return descriptors
          .filter((number) => linkOf(`/proc/${pid}/fd/${number}`) === path)
          .map((fd) => `${pid}: ${fd}`);
      } catch {
        return [];
      }
    });

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
};

it('what the agent was started with reaches neither runtime nor container, nor stays open in the agent', async ({
  daemon,
}) => {
  const lock = join(daemon.directory, 'somebody.lock');
  const config = join(daemon.directory, 'config.yaml');
  const kind = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  writeFileSync(config, `${kind}evictionHard: { memory.available: 0% }\n`);
  const [held, read] = [openSync(lock, 'a'), openSync(config, 'r')];
  // Numbers 3 to 22: below and above those that Node itself closes for its children.
  daemon.handed = [read, ...Array.from({ length: 19 }, () => held)];
  await daemon.start('--config', '/dev/fd/3');
  daemon.handed = [];
  daemon.apply({ name: 'web' });
  await daemon.reached('web', 'CONTAINER_RUNNING');
  expect(holders(lock)).toEqual([]);
  expect(holders(config)).toEqual([]);

  // A runtime that is started by hand.
  await daemon.kill('SIGTERM');
  await daemon.killRuntime('SIGTERM');
  daemon.handed = Array.from({ length: 20 }, () => held);
  const runtime = daemon.spawnRuntime();
  daemon.handed = [];
  await eventually('the runtime serves', async () => (await daemon.sandboxes()).length > 0);
  expect(runtime.pid).toBe(daemon.runtimeProcess()?.pid);
  expect(holders(lock)).toEqual([]);
  for (const descriptor of [held, read]) closeSync(descriptor);
});
