import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { healthServer, type HealthServer } from '../support/health-server.js';
import { it as itWithDaemon, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { liveThrough, RECORD_SECONDS } from './incident.js';
import { SLEEP } from './manifests.js';
import { expectLongerBackOffFound, expectSame } from './replays.js';
import { dice, SEED } from './seeded.js';

const it = itWithDaemon.extend<{ readonly server: HealthServer }>({
  server: async ({}, use) => {
    const server = await healthServer();
    await use(server);
    server.close();
  },
});

const LONGEST_MS = RECORD_SECONDS * 3_000 + 300_000;
const WAIT = "trap 'exit 0' TERM; while :; do sleep 0.1; done";

it(
  `replays a node with churn and kills, and tells of a changed decision (SEED=${SEED})`,
  async ({ daemon, server }) => {
    const file = join(daemon.directory, 'node.rec');
    await daemon.start('--record', file);
    const counts = await liveThrough(daemon, {
      ...{ server, dice: dice(SEED), seconds: RECORD_SECONDS, wait: WAIT },
      revive: () => eventually('the agent brings the runtime back', () => daemon.runtimeProcess()),
    });
    const { code: ended } = await daemon.kill('SIGTERM');
    expect(ended).toBe(0);

    console.log(`${JSON.stringify(counts)}, ${await expectSame(daemon, file)}`);
    await expectLongerBackOffFound(daemon, file);
  },
  LONGEST_MS,
);

it('replays an agent that was killed, up to what it had written, and the one after it', async ({ daemon }) => {
  const file = join(daemon.directory, 'node.rec');
  daemon.apply({ name: 'steady', containers: [{ script: SLEEP }] });
  daemon.apply({ name: 'looping', containers: [{ script: 'sleep 0.3; exit 1' }] });
  await daemon.start('--record', file);
  const { id } = await daemon.reached('steady', 'CONTAINER_RUNNING');
  await daemon.reached('looping', 'CONTAINER_EXITED', { attempt: 1 });
  await eventually('some of it is on the disk', async () =>
    (await daemon.run('replay', file, '--pod', 'looping')).stdout.includes('started main'),
  );
  await daemon.kill('SIGKILL');

  const next = join(daemon.directory, 'node-2.rec');
  await daemon.start('--record', file);
  expect(existsSync(next)).toBe(true);
  daemon.apply({ name: 'another', containers: [{ script: SLEEP }] });
  await daemon.reached('another', 'CONTAINER_RUNNING');
  await daemon.kill('SIGTERM');
  // It was adopted.
  expect(await daemon.reached('steady', 'CONTAINER_RUNNING')).toMatchObject({ id });

  for (const [recording, end] of [
    [file, /\nthe recording ends while the agent runs.*\n$/],
    [next, /^no difference.*\n$/],
  ] as const) {
    const { code, stdout, stderr } = await daemon.run('replay', recording);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^no difference: /);
    expect(stdout).toMatch(end);
  }
  const { stdout } = await daemon.run('replay', next, '--pod', `another-${NODE_NAME}`);
  expect(stdout).toMatch(/started main/);
});

it('keeps passwords of registries and tokens of sources to itself', async ({ daemon }) => {
  const file = join(daemon.directory, 'node.rec');
  const [password, token] = ['correct-horse-battery', 'Bearer of-good-news'];
  const auth = Buffer.from(`somebody:${password}`).toString('base64');
  const auths = { 'https://index.docker.io/v1/': { auth } };
  writeFileSync(join(daemon.rootDir, 'config.json'), JSON.stringify({ auths }), { mode: 0o600 });
  const url = `http://127.0.0.1:1/pods`;
  daemon.apply({ name: 'puller', containers: [{ imagePullPolicy: 'Always' }] });
  await daemon.start('--record', file, '--manifest-url', url, '--manifest-url-header', `Authorization:${token}`);
  await daemon.reached('puller', 'CONTAINER_RUNNING');
  await daemon.kill('SIGTERM');

  const recorded = gunzipSync(readFileSync(file)).toString();
  const pulls = recorded.split('\n').filter((line) => line.includes('"images.pullImage"'));
  // The password was on its way through there, and something stands in its place.
  expect(pulls).not.toEqual([]);
  for (const line of pulls) expect(line).toMatch(/"username":"somebody".*"password":"<secret \d+>"/);
  const secrets = [password, auth, token, token.split(' ')[1] ?? '', Buffer.from(password).toString('base64')];
  expect(secrets.filter((secret) => recorded.includes(secret))).toEqual([]);
  await expectSame(daemon, file);
});
