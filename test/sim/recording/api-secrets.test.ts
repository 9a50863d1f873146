import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { kubelet } from '../../../src/kubelet.js';
import { encodeValue } from '../../../src/tools/recording/entries/encode-value.js';
import { hideApiSecrets } from '../../../src/tools/recording/secrets/hide-api-secrets.js';
import { replay } from '../../../src/tools/recording/replay.js';
import { SecretKeeper } from '../../../src/tools/recording/secrets/secret-keeper.js';
import { simulatedApiServer } from '../../../src/tools/sim/api-server/simulated-api-server.js';
import { seededRandom } from '../../../src/tools/sim/world/seeded-random.js';
import { simulatedNode } from '../../../src/tools/sim/simulated-node.js';
import { VirtualScheduler } from '../../../src/tools/sim/world/virtual-scheduler.js';
import { recordingsInMemory } from './recordings-in-memory.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const text = (encoded: unknown): string => Buffer.from(encoded as string, 'base64').toString();

const PLANTED = {
  password: 'db-P4ssword/+ü"x',
  short: 'pw1',
  pull: 'Pull:Secret-Password',
  changed: 'the next one of them',
};
const docker = JSON.stringify({ auths: { 'registry.test': { auth: base64(`robot:${PLANTED.pull}`) } } });

/** A node of a cluster with a pod whose environment and whose image are secret. */
const record = () => {
  const { makeKubelet, recordings } = recordingsInMemory(kubelet);
  const scheduler = new VirtualScheduler();
  const random = seededRandom('secrets of the API');
  const server = simulatedApiServer({ scheduler, random });
  const path = '/api/v1/namespaces/default';
  const secret = (name: string, type: string, data: object) =>
    server.do({ method: 'POST', path: `${path}/secrets`, body: { metadata: { name }, type, data } });
  secret('db', 'Opaque', { password: base64(PLANTED.password), short: base64(PLANTED.short) });
  secret('pull', 'kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64(docker) });
  const from = (name: string, key: string) => ({ name, valueFrom: { secretKeyRef: { name: 'db', key } } });
  const spec = {
    nodeName: 'node-1',
    imagePullSecrets: [{ name: 'pull' }],
    containers: [
      {
        ...{ name: 'main', image: 'registry.test/app:1', args: ['--password=$(PASSWORD)'] },
        env: [from('PASSWORD', 'password'), from('SHORT', 'short'), { name: 'OPEN', value: 'open' }],
      },
    ],
  };
  server.do({ method: 'POST', path: `${path}/pods`, body: { metadata: { name: 'web' }, spec } });
  const node = simulatedNode({
    ...{ seed: 7, scheduler, cluster: server, makeKubelet, sources: { file: NEVER } },
    behaviours: { images: { 'registry.test/app:1': { pullMs: 10 } } },
  });
  node.start();
  scheduler.runUntil(scheduler.now() + 60_000);
  const merge = { data: { password: base64(PLANTED.changed) } };
  server.do({ method: 'PATCH', path: `${path}/secrets/db`, body: merge, contentType: 'application/merge-patch+json' });
  node.runtime.crash(node.runtime.liveContainers()[0]!.containerId, 1);
  scheduler.runUntil(scheduler.now() + 60_000);
  node.kill();
  return { recording: recordings()[0]!, live: node.runtime.liveContainers() };
};

describe('secrets of the API', () => {
  it('are nowhere in the recording of a node that uses them, which replays without a difference', () => {
    const { recording, live } = record();
    const written = recording.lines.join('\n');
    for (const secret of [PLANTED.password, PLANTED.pull, PLANTED.changed, docker])
      for (const form of [
        secret,
        JSON.stringify(secret).slice(1, -1),
        base64(secret).replace(/=+$/, ''),
        encodeURIComponent(secret),
      ])
        expect(written).not.toContain(form);
    expect(written).not.toContain(base64(`robot:${PLANTED.pull}`));
    expect(written).not.toContain(`"${PLANTED.short}"`);
    expect(written).not.toContain(`"${base64(PLANTED.short)}"`);
    // They were used: what was created has them in its environment and its arguments.
    expect(live).toHaveLength(1);
    const created = recording.lines.find((line) => line.includes('"runtime.createContainer"')) ?? '';
    const [, inEnvironment] = /"key":"PASSWORD","value":\{"\$text":"(<secret \d+>)"/.exec(created) ?? [];
    expect(inEnvironment).toBeDefined();
    expect(created).toContain(`"--password=${inEnvironment}"`);
    expect(created).toMatch(/"key":"SHORT","value":\{"\$text":"<secret \d+>"/);
    expect(created).toContain('"key":"OPEN","value":{"$text":"open"}');
    expect(replay(recording, kubelet)).toMatchObject({ kind: 'same', entries: recording.lines.length });
  });
});

describe('an object of the API in a recording', () => {
  interface Hidden {
    readonly data: Readonly<Record<string, string>>;
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  }
  const secret = (data: object, rest: object = {}): object => ({
    kind: 'Secret',
    metadata: { name: 'a', ...rest },
    data,
  });
  const hidden = (value: unknown): Hidden => hideApiSecrets(value, new SecretKeeper()) as Hidden;

  it('has placeholders that are decoded as the values would be', () => {
    const { data } = hidden(secret({ key: base64('value of it'), empty: '' }));
    expect(text(data['key'])).toMatch(/^<secret \d+>$/);
    expect(data['key']!.length % 4).toBe(0);
    expect(data['empty']).toBe('');
  });

  it('keeps the form of what registries are sent', () => {
    const { data } = hidden(secret({ '.dockerconfigjson': base64(docker) }));
    const { auths } = JSON.parse(text(data['.dockerconfigjson'])) as { auths: Record<string, { auth: string }> };
    expect(text(auths['registry.test']!.auth)).toMatch(/^robot:<secret \d+>$/);
  });

  it('hides bytes that are no text, and former versions', () => {
    const bytes = Buffer.from([255, 254, 0, 1, 2, 3, 4, 5, 6]).toString('base64');
    const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{}}', other: 'stays' };
    const { data, metadata } = hidden(secret({ key: bytes }, { annotations: applied }));
    expect(text(data['key'])).toMatch(/<secret/);
    expect(Object.values(metadata.annotations)).toEqual([expect.stringMatching(/^<secret/), 'stays']);
  });

  it('hides bytes that are no text within others as a replay computes them', () => {
    const secret = Buffer.from([255, 254, 0, 1, 2, 3, 4, 5, 6]);
    const keeper = new SecretKeeper();
    const { data } = hideApiSecrets(
      { kind: 'Secret', data: { key: secret.toString('base64'), word: base64('pässword') } },
      keeper,
    ) as Hidden;
    const written = (...parts: readonly Uint8Array[]) => encodeValue({ value: Buffer.concat(parts) }, keeper.text);
    const [hidden, word] = [Buffer.from(data['key']!, 'base64'), Buffer.from(data['word']!, 'base64')];
    // A reader takes it for text, or a variable for valid, as little as the secret.
    expect(hidden.toString('latin1')).toMatch(/^\xff<secret \d+>\0$/);
    const bytes = (...parts: readonly Uint8Array[]) => ({ value: { $bytes: Buffer.concat(parts).toString('base64') } });
    expect(written(secret)).toEqual(bytes(hidden));
    expect(written(Buffer.from('é'), secret)).toEqual(bytes(Buffer.from('é'), hidden));
    // A text between bytes that are none.
    expect(written(secret, Buffer.from('pässword'))).toEqual(bytes(hidden, word));
    expect(keeper.text(`{"data":"${secret.toString('base64')}"}`, '')).not.toContain(secret.toString('base64'));
  });

  it.each([
    ['a list', { kind: 'SecretList', items: [{ metadata: {}, data: { key: base64('value of it') } }] }],
    ['an event of a watch', { kind: 'event', type: 'ADDED', object: secret({ key: base64('value of it') }) }],
    ['what is kept of it', new Map([['secrets/default/a', secret({ key: base64('value of it') })]])],
  ])('is found in %s', (_, value) => {
    const keeper = new SecretKeeper();
    const said = hideApiSecrets(value, keeper);
    const plain = JSON.stringify(said instanceof Map ? [...said] : said);
    expect(plain).not.toContain(base64('value of it'));
    expect(keeper.text('a value of it', '')).toMatch(/^a <secret \d+>$/);
  });

  it('hides a token, and leaves everything else as it is', () => {
    const keeper = new SecretKeeper();
    const request = { kind: 'TokenRequest', status: { token: 'header.payload.signature', expirationTimestamp: 'x' } };
    expect(hideApiSecrets(request, keeper)).toEqual({
      ...request,
      status: { token: expect.stringMatching(/^<secret \d+>$/) as string, expirationTimestamp: 'x' },
    });
    const config = { kind: 'ConfigMap', data: { key: 'stays' } };
    expect(hideApiSecrets(config, keeper)).toBe(config);
  });
});
