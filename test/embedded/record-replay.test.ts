import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { healthServer, type HealthServer } from '../support/health-server.js';
import { apiOverHttp } from './api-over-http.js';
import { it as itWithDaemon, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { LIFE_SECONDS, liveThrough, RECORD_SECONDS } from './incident.js';
import { joined } from './joined.js';
import { manifest, SLEEP } from './manifests.js';
import { expectLongerBackOffFound, expectSame } from './replays.js';
import { dice, SEED } from './seeded.js';

const it = itWithDaemon.extend<{ readonly server: HealthServer }>({
  server: async ({}, use) => {
    const server = await healthServer();
    await use(server);
    server.close();
  },
});

const LONGEST_MS = RECORD_SECONDS * 3_000 + 600_000;
const WAIT = "trap 'exit 0' TERM; while :; do sleep 0.1; done";

it(
  `replays a node with churn and kills, and names a changed decision (SEED=${SEED})`,
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

it(
  `replays every agent of a node whose agents are killed again and again (SEED=${SEED})`,
  async ({ daemon, server }) => {
    const file = join(daemon.directory, 'node.rec');
    const next = () => daemon.start('--record', file);
    await next();
    const counts = await liveThrough(daemon, {
      ...{ server, dice: dice(SEED), seconds: RECORD_SECONDS, wait: WAIT },
      revive: () => eventually('the agent brings the runtime back', () => daemon.runtimeProcess()),
      lives: { seconds: LIFE_SECONDS, next },
    });
    await daemon.kill('SIGTERM');

    const kills = counts['agent killed'] ?? 0;
    expect(kills).toBeGreaterThan(0);
    const recordings = readdirSync(daemon.directory).filter((name) => name.endsWith('.rec'));
    expect(recordings).toHaveLength(1 + kills);
    const verdicts = [];
    for (const name of recordings) {
      const { code, stdout, stderr } = await daemon.run('replay', join(daemon.directory, name));
      verdicts.push({ name, code, says: stdout.split(':')[0], stderr });
    }
    const same = { code: 0, says: 'no difference', stderr: '' };
    expect(verdicts).toEqual(recordings.map((name) => ({ name, ...same })));
    console.log(`${JSON.stringify(counts)}, ${recordings.length} recordings without a difference`);
  },
  LONGEST_MS,
);

it(
  'replays an agent that was killed, up to what it had written, and the one after it',
  async ({ daemon }) => {
    const file = join(daemon.directory, 'node.rec');
    daemon.apply({ name: 'steady', containers: [{ script: SLEEP }] });
    daemon.apply({ name: 'looping', containers: [{ script: 'sleep 0.3; exit 1' }] });
    await daemon.start('--record', file);
    const { id } = await daemon.reached('steady', 'CONTAINER_RUNNING');
    await daemon.reached('looping', 'CONTAINER_EXITED', { attempt: 2 });
    await eventually('some of it is on the disk', async () =>
      (await daemon.run('replay', file, '--pod', 'looping')).stdout.includes('started main'),
    );
    await daemon.kill('SIGKILL');

    const next = join(daemon.directory, 'node-2.rec');
    await daemon.start('--record', file);
    expect(existsSync(next)).toBe(true);
    daemon.apply({ name: 'another', containers: [{ script: 'sleep 0.3; exit 1' }] });
    await daemon.reached('another', 'CONTAINER_EXITED', { attempt: 2 });
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
    // Both can be lived through again; the pods from before the second one are no part of it.
    for (const recording of [file, next]) {
      const { code, stderr } = await daemon.run('replay', recording, '--to-test', `${recording}.test.ts`);
      expect([code, stderr]).toEqual([0, '']);
      expect(readFileSync(`${recording}.test.ts`, 'utf8')).toContain(`"name": "${NODE_NAME}"`);
    }
    const { stdout } = await daemon.run('replay', next, '--pod', `another-${NODE_NAME}`);
    expect(stdout).toMatch(/started main/);
  },
  LONGEST_MS,
);

it(
  'replays an agent of a cluster that was killed, and the one after it, and both can be lived through in tests',
  async ({ daemon }) => {
    const api = await apiOverHttp(NODE_NAME);
    const inCluster = (name: string, script: string): void => {
      const containers = [{ script, envFrom: [{ configMapRef: { name: 'settings' } }] }];
      const body = JSON.parse(
        manifest(daemon.directory, { name: `${name}-${NODE_NAME}`, nodeName: NODE_NAME, containers }),
      ) as unknown;
      api.server.do({ method: 'POST', path: '/api/v1/namespaces/default/pods', body });
    };
    try {
      const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { COLOR: 'blue' } };
      api.server.do({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body: settings });
      const file = join(daemon.directory, 'node.rec');
      const args = ['--record', file, '--kubeconfig', joined(daemon.directory, api.url), '--port', '0'];
      inCluster('steady', SLEEP);
      inCluster('looping', 'sleep 0.3; test "$COLOR" = blue && exit 3; exit 1');
      daemon.apply({ name: 'static' });
      await daemon.start(...args);
      const { id } = await daemon.reached('steady', 'CONTAINER_RUNNING');
      await daemon.reached('static', 'CONTAINER_RUNNING');
      await daemon.reached('looping', 'CONTAINER_EXITED', { attempt: 2 });
      await daemon.kill('SIGKILL');
      await daemon.start(...args);
      inCluster('another', 'sleep 0.3; exit 1');
      await daemon.reached('another', 'CONTAINER_EXITED', { attempt: 2 });
      await daemon.kill('SIGTERM');
      expect(await daemon.reached('steady', 'CONTAINER_RUNNING')).toMatchObject({ id });

      for (const recording of [file, join(daemon.directory, 'node-2.rec')]) {
        const { code, stdout, stderr } = await daemon.run('replay', recording, '--to-test', `${recording}.test.ts`);
        expect({ code, stdout, stderr }).toMatchObject({ code: 0, stderr: '' });
        expect(stdout).toMatch(/^no difference: /);
      }
    } finally {
      api.close();
    }
  },
  LONGEST_MS,
);

it('keeps passwords of registries and tokens of sources to itself', async ({ daemon }) => {
  const file = join(daemon.directory, 'node.rec');
  const [password, token] = ['correct-horse-battery', 'Bearer of-good-news'];
  const auth = Buffer.from(`user:${password}`).toString('base64');
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
  for (const line of pulls) expect(line).toMatch(/"username":"user".*"password":"<secret \d+>"/);
  const secrets = [password, auth, token, token.split(' ')[1] ?? '', Buffer.from(password).toString('base64')];
  expect(secrets.filter((secret) => recorded.includes(secret))).toEqual([]);
  await expectSame(daemon, file);
});
