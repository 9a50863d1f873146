import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { type Daemon, freePort, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/pods', import.meta.url));
const BACK_OFF_NS = 10_000_000_000n;

/**
 * Starts the agent on the files of `examples/pods` and expects of them what the README says. They are unchanged but for what
 * could belong to somebody else on this machine: the port, and the folder of the site where that is not the pod's own.
 */
export const expectExamplesToRun = async (daemon: Daemon, site = '/dev/shm/rx-kubelet-example-web'): Promise<void> => {
  const port = await freePort();
  const web = readFileSync(join(EXAMPLES, 'web.yaml'), 'utf8')
    .replaceAll('8080', String(port))
    .replaceAll('/dev/shm/rx-kubelet-example-web', site);
  daemon.write('web.yaml', web);
  for (const name of ['job.yaml', 'crash.yaml']) copyFileSync(join(EXAMPLES, name), join(daemon.manifests, name));
  await daemon.start();
  const page = async () => (await fetch(`http://127.0.0.1:${port}/`)).text();
  await eventually('the web server answers', async () => (await page()).startsWith(`<h1>Hello from web-${NODE_NAME}`));

  // An edit replaces the pod.
  const before = await daemon.containersOf('web', 'server');
  daemon.write('web.yaml', web.replaceAll('Hello from', 'Goodbye from'));
  await eventually('the edited pod answers', async () =>
    (await page()).startsWith(`<h1>Goodbye from web-${NODE_NAME}`),
  );
  const after = await daemon.containersOf('web', 'server');
  expect(after.filter(({ state }) => state === 'CONTAINER_RUNNING').map(({ uid }) => uid)).not.toEqual([
    before[0]?.uid,
  ]);

  // Deleting ends it.
  daemon.delete('web.yaml');
  await eventually('the web pod has ended', async () => {
    const ofWeb = (await daemon.sandboxes()).filter(({ pod }) => pod === `web-${NODE_NAME}`);
    return ofWeb.every(({ state }) => state === 'SANDBOX_NOTREADY');
  });
  await expect(page()).rejects.toThrow('fetch failed');

  // The job has ended well, once.
  const job = await daemon.reached('job', 'CONTAINER_EXITED', { name: 'count' });
  expect(job).toMatchObject({ exitCode: 0, reason: 'Completed' });
  const steps = [1, 2, 3, 4, 5].map((step) => `step ${step} of 5`);
  expect(daemon.logLines(job)).toEqual([...steps, 'done'].map((content) => ({ stream: 'stdout', tag: 'F', content })));

  // What keeps failing is started again at once, then after ten seconds, and later each time.
  const failed = await daemon.reached('crash', 'CONTAINER_EXITED', { attempt: 1 });
  expect(failed).toMatchObject({ exitCode: 1, reason: 'Error' });
  await eventually('it is shown as backing off', async () => {
    const { stdout } = await daemon.run('pods', '--root-dir', daemon.rootDir);
    return /crash-node1 +0\/1 +CrashLoopBackOff +\d/.test(stdout) && /job-node1 +0\/1 +Completed +0 /.test(stdout);
  });
  const next = (failed.metadata?.attempt ?? 0) + 1;
  const again = await daemon.reached('crash', 'CONTAINER_RUNNING', { attempt: next });
  expect(again.startedAt - failed.finishedAt).toBeGreaterThanOrEqual(BACK_OFF_NS);
  // Meanwhile nobody has started the job again.
  expect(await daemon.containersOf('job')).toMatchObject([{ id: job.id, attempt: 0 }]);
  expect(daemon.logFiles('job', 'count')).toEqual(['0.log']);
};
