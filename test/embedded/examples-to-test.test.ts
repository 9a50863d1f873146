import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { runIncidentTest } from '../support/run-incident-test.js';
import { type Daemon, freePort, it, isRoot, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/pods', import.meta.url));

/** The files of `examples/pods`, except for what could belong to another process of this machine. */
const applyExamples = async (daemon: Daemon): Promise<void> => {
  const web = readFileSync(join(EXAMPLES, 'web.yaml'), 'utf8');
  daemon.write(
    'web.yaml',
    web
      .replaceAll('8080', String(await freePort()))
      .replaceAll('/dev/shm/rx-kubelet-example-web', join(daemon.directory, 'site')),
  );
  // Without root the embedded runtime mounts nothing.
  for (const name of ['job.yaml', 'crash.yaml', 'greeting.yaml', ...(isRoot ? ['page.yaml'] : [])])
    copyFileSync(join(EXAMPLES, name), join(daemon.manifests, name));
};

const examplesAreThere = async (daemon: Daemon): Promise<void> => {
  await daemon.reached('web', 'CONTAINER_RUNNING', { name: 'clock' });
  await daemon.reached('greeting', 'CONTAINER_RUNNING');
  if (isRoot) await daemon.reached('page', 'CONTAINER_RUNNING', { name: 'reader' });
};

it('a recording of the examples becomes a test that passes, and so does that of the next agent once the pods were stopped', async ({
  daemon,
}) => {
  const file = join(daemon.directory, 'node.rec');
  await applyExamples(daemon);
  daemon.apply({ name: 'absent-image', containers: [{ image: 'registry.test/nowhere:1', script: SLEEP }] });
  await daemon.start('--record', file, '--stop-pods-on-exit');
  await examplesAreThere(daemon);
  await daemon.reached('job', 'CONTAINER_EXITED', { name: 'count' });
  await daemon.reached('crash', 'CONTAINER_EXITED', { attempt: 1 });
  expect((await daemon.kill('SIGTERM')).code).toBe(0);

  daemon.apply({ name: 'late', containers: [{ script: SLEEP }] });
  await daemon.start('--record', file, '--stop-pods-on-exit');
  await daemon.reached('late', 'CONTAINER_RUNNING');
  await daemon.reached('greeting', 'CONTAINER_RUNNING');
  // A wait of 10 s is before the third end of this life: nothing is expected of the last seconds of a recording.
  await daemon.reached('crash', 'CONTAINER_EXITED', { attempt: 4 });
  expect((await daemon.kill('SIGTERM')).code).toBe(0);

  const testOf = async (recording: string): Promise<string> => {
    const test = `${recording}.test.ts`;
    const { code, stderr } = await daemon.run('replay', recording, '--to-test', test);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return readFileSync(test, 'utf8');
  };
  const first = await testOf(file);
  for (const who of ['web', 'greeting', 'job', 'crash', 'absent-image', ...(isRoot ? ['page'] : [])])
    expect(first).toMatch(new RegExp(`^ {2}"default/${who}-${NODE_NAME} \\w+": \\[$`, 'm'));
  expect((await runIncidentTest(first)).failed).toEqual([]);
  const second = await testOf(join(daemon.directory, 'node-2.rec'));
  expect(second).toContain(`"default/late-${NODE_NAME} main": [`);
  expect((await runIncidentTest(second)).failed).toEqual([]);
}, 480_000);

it('no test is written of a recording whose only pod ran before it, and one sentence says why', async ({ daemon }) => {
  const file = join(daemon.directory, 'node.rec');
  daemon.apply({ name: 'steady', containers: [{ script: SLEEP }] });
  await daemon.start();
  const { id } = await daemon.reached('steady', 'CONTAINER_RUNNING');
  await daemon.kill('SIGTERM');
  await daemon.start('--record', file);
  await eventually('the next agent has adopted it', async () =>
    (await daemon.shownPods()).some(({ status }) => status?.phase === 'Running'),
  );
  expect(await daemon.reached('steady', 'CONTAINER_RUNNING')).toMatchObject({ id });
  await daemon.kill('SIGTERM');

  const test = join(daemon.directory, 'incident.test.ts');
  expect(await daemon.run('replay', file, '--to-test', test)).toMatchObject({
    code: 1,
    stderr: `no test was written: nothing in the recording can be expected: default/steady-${NODE_NAME} existed before the recording began\n`,
  });
  expect(existsSync(test)).toBe(false);
}, 240_000);
