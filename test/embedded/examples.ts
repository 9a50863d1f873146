import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { type Daemon, freePort, isRoot, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/pods', import.meta.url));
const BACK_OFF_NS = 10_000_000_000n;

/**
 * Starts the agent on the files of `examples/pods` and expects of them what the README says. They are unchanged except for what
 * could belong to another process of this machine: the port, and the folder of the site where that is not the pod's own.
 */
export const expectExamplesToRun = async (daemon: Daemon, site = '/dev/shm/rx-kubelet-example-web'): Promise<void> => {
  const port = await freePort();
  const web = readFileSync(join(EXAMPLES, 'web.yaml'), 'utf8')
    .replaceAll('8080', String(port))
    .replaceAll('/dev/shm/rx-kubelet-example-web', site);
  daemon.write('web.yaml', web);
  for (const name of ['job.yaml', 'crash.yaml', 'greeting.yaml', 'page.yaml'])
    copyFileSync(join(EXAMPLES, name), join(daemon.manifests, name));
  await daemon.start();
  const page = async () => (await fetch(`http://127.0.0.1:${port}/`)).text();
  await eventually('the web server answers', async () => (await page()).startsWith(`<h1>Hello from web-${NODE_NAME}`));

  // Its configuration comes from a ConfigMap and a Secret beside it.
  const greeting = await daemon.reached('greeting', 'CONTAINER_RUNNING');
  await eventually('the configured pod greets', () =>
    daemon.output(greeting).includes('Good morning. The token has 17 characters.'),
  );

  if (isRoot) await expectPageToFollow(daemon);

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
  // It does not run for long.
  const again = await eventually('it is started again', async () => {
    const [newest] = await daemon.containersOf('crash', 'main');
    const status = newest && newest.attempt >= next && (await daemon.status(newest.id));
    return status && status.startedAt > 0n && status;
  });
  expect(again.startedAt - failed.finishedAt).toBeGreaterThanOrEqual(BACK_OFF_NS);
  // Meanwhile the agent has not started the job again.
  expect(await daemon.containersOf('job')).toMatchObject([{ id: job.id, attempt: 0 }]);
  expect(daemon.logFiles('job', 'count')).toEqual(['0.log']);
};

/** An edit of the ConfigMap reaches the files of the running containers. */
const expectPageToFollow = async (daemon: Daemon): Promise<void> => {
  const before = await Promise.all(
    ['writer', 'reader'].map((name) => daemon.reached('page', 'CONTAINER_RUNNING', { name })),
  );
  const reads = (title: string) =>
    eventually(`the page says ${title}`, async () => {
      const reader = await daemon.reached('page', 'CONTAINER_RUNNING', { name: 'reader' });
      return daemon.output(reader).some((line) => line.startsWith(`<h1>${title}</h1><p>It is `));
    });
  await reads('Good morning');
  const page = readFileSync(join(EXAMPLES, 'page.yaml'), 'utf8');
  daemon.write('page.yaml', page.replace('title: Good morning', 'title: Good night'));
  await reads('Good night');
  for (const { id } of before) expect((await daemon.status(id)).state).toBe('CONTAINER_RUNNING');
};
