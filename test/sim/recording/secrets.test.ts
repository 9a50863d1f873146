import { createHash } from 'node:crypto';
import { concat, NEVER, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { KubeletPorts } from '../../../src/kubelet-options.js';
import { kubelet } from '../../../src/kubelet.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { RegistryCredential } from '../../../src/model/images/docker-config.js';
import { credentialsIn, type PullSecret } from '../../../src/model/images/pull-secret.js';
import { podSet } from '../../../src/model/pod/pod-set.js';
import { hidePullSecret } from '../../../src/tools/recording/secrets/hide-pull-secret.js';
import { replay } from '../../../src/tools/recording/replay.js';
import { SecretKeeper } from '../../../src/tools/recording/secrets/secret-keeper.js';
import { simulatedNode } from '../../../src/tools/sim/simulated-node.js';
import { aPod } from '../../support/a-pod.js';
import { memoryPullRecords } from '../../support/memory-pull-records.js';
import { recordingsInMemory } from './recordings-in-memory.js';

const PLANTED = {
  nodePassword: 'node-pa$$w0rd/+"x',
  nodeToken: 'node-identity-token',
  secretPassword: 'Secret:P4ssword',
  secretToken: 'secret-identity-token',
  registryToken: 'registry-token-1',
  opaque: 'opaque key material',
  header: 'Bearer manifest-server-token',
  short: 'pw1',
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const dockerConfig = (auths: object): string => JSON.stringify({ auths });
const secret = (type: string, data: Readonly<Record<string, string>>, name = 'pull'): PullSecret => ({
  ...{ uid: `uid-${name}`, namespace: 'default', name, type },
  data,
});
const SECRETS: readonly PullSecret[] = [
  secret('kubernetes.io/dockerconfigjson', {
    '.dockerconfigjson': dockerConfig({
      'registry.test': { auth: base64(`robot:${PLANTED.secretPassword}`), identitytoken: PLANTED.secretToken },
      'other.test': { username: 'user', password: PLANTED.registryToken },
    }),
  }),
  secret('Opaque', { key: PLANTED.opaque }, 'opaque'),
];
const NODE: readonly RegistryCredential[] = [
  { username: 'node', password: PLANTED.nodePassword, identityToken: PLANTED.nodeToken },
  { username: 'short', password: PLANTED.short },
];

/** A registry that refuses every pull in words that quote what it was sent. */
const withSecrets = (ports: KubeletPorts): KubeletPorts => ({
  ...ports,
  nodeCredentials: () => of(NODE),
  pullSecrets: ({ metadata }) =>
    metadata.name === 'refused'
      ? throwError(() => new Error(`cannot read {"password":${JSON.stringify(PLANTED.opaque)}}`))
      : of(SECRETS),
  pullRecords: {
    ...memoryPullRecords(),
    hashOf: (credential) => createHash('sha256').update(JSON.stringify(credential)).digest('hex'),
  },
  images: {
    ...ports.images,
    pullImage: (request) => {
      const { auth } = request;
      if (auth?.password === PLANTED.secretPassword) return ports.images.pullImage(request);
      const basic = base64(`${auth?.username}:${auth?.password}`);
      const quoted = `${auth?.password} ${JSON.stringify(auth)} ${base64(`${auth?.password}`)} token=${encodeURIComponent(`${auth?.password}`)} Basic ${basic}`;
      return throwError(() => new CriError('unknown', 'PullImage', `unauthorized: ${quoted}; ${PLANTED.header}`));
    },
  },
});

const record = (env: readonly { readonly name: string; readonly value: string }[] = []) => {
  const { makeKubelet, recordings } = recordingsInMemory(kubelet, { secrets: [PLANTED.header] });
  const spec = {
    imagePullSecrets: [{ name: 'pull' }],
    containers: [{ name: 'main', image: 'registry.test/app:1', env }],
  };
  const elsewhere = { ...spec, containers: [{ name: 'main', image: 'elsewhere.test/app:1' }] };
  const node = simulatedNode({
    ...{ seed: 3, makeKubelet, wrapPorts: withSecrets },
    behaviours: { images: { 'registry.test/app:1': { pullMs: 10 }, 'elsewhere.test/app:1': { pullMs: 10 } } },
    sources: {
      file: concat(
        of(
          podSet([
            aPod({ uid: 'uid-a', name: 'allowed', spec }),
            aPod({ uid: 'uid-b', name: 'elsewhere', spec: elsewhere }),
            aPod({ uid: 'uid-c', name: 'refused', spec: elsewhere }),
          ]),
        ),
        NEVER,
      ),
    },
  });
  node.start();
  node.scheduler.runUntil(node.scheduler.now() + 120_000);
  node.kill();
  return { recording: recordings()[0]!, pods: node.runtime.liveContainers() };
};

/** In every form in which a text can carry it on. */
const formsOf = (text: string): readonly string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  JSON.stringify(JSON.stringify(text)).slice(3, -3),
  encodeURIComponent(text),
  base64(text).replace(/=+$/, ''),
];

describe('the secrets of a node', () => {
  it('are nowhere in its recording, which replays without a difference', () => {
    const { recording, pods } = record();
    const text = recording.lines.join('\n');
    for (const planted of Object.values(PLANTED).filter((one) => one !== PLANTED.short))
      for (const form of formsOf(planted)) expect(text).not.toContain(form);
    expect(text).not.toContain(`"${PLANTED.short}"`);
    for (const login of [
      `robot:${PLANTED.secretPassword}`,
      `node:${PLANTED.nodePassword}`,
      `user:${PLANTED.registryToken}`,
    ])
      expect(text).not.toContain(base64(login).replace(/=+$/, ''));
    for (const credential of [
      ...NODE,
      { username: 'robot', password: PLANTED.secretPassword, identityToken: PLANTED.secretToken },
    ])
      expect(text).not.toContain(createHash('sha256').update(JSON.stringify(credential)).digest('hex'));
    expect(replay(recording, kubelet)).toMatchObject({ kind: 'same', entries: recording.lines.length });
    // All of that has been used: the pull that needed it went well, the others have failed and been reported.
    expect(pods).toMatchObject([{ pod: 'allowed' }]);
    expect(text).toMatch(/unauthorized: <secret \d+>/);
    expect(text).toContain('<secret');
    const users = recording.entries.flatMap((entry) =>
      entry.kind === 'call' && entry.port === 'images.pullImage'
        ? [(entry.args[0] as { auth?: { username?: string } }).auth?.username]
        : [],
    );
    expect(new Set(users)).toEqual(new Set(['robot', 'node', 'short']));
  });

  it('are none where a manifest says them in the open: what follows from it would change', () => {
    const { recording } = record([{ name: 'OPEN', value: `x ${PLANTED.secretPassword}` }]);
    expect(recording.lines.join('\n')).toContain(`"value":"x ${PLANTED.secretPassword}"`);
    expect(replay(recording, kubelet)).toMatchObject({ kind: 'same', entries: recording.lines.length });
    const auths = recording.entries.flatMap((entry) =>
      entry.kind === 'call' && entry.port === 'images.pullImage' ? [JSON.stringify(entry.args)] : [],
    );
    for (const auth of auths) expect(auth).not.toContain(PLANTED.secretPassword);
  });
});

describe('a pull secret in a recording', () => {
  const registries = ['registry.test/app', 'other.test/app', 'dockercfg.test/app'];
  const readings = (one: PullSecret): unknown => {
    try {
      return registries.map((repository) =>
        credentialsIn([one], repository).map(({ username, password, identityToken }) => [
          ...[username, password !== '', identityToken !== undefined && identityToken !== ''],
        ]),
      );
    } catch (error) {
      return (error as Error).message;
    }
  };
  const json = (text: string) => secret('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': text });

  for (const [what, original] of [
    ['with auth', SECRETS[0]!],
    ['with neither', json(dockerConfig({ 'registry.test': { email: 'a@b' } }))],
    ['with auth over lines', json(dockerConfig({ 'registry.test': { auth: 'dXNlcjpw\nYXNzd29yZA==' } }))],
    ['with auth without padding', json(dockerConfig({ 'registry.test': { auth: 'dXNlcjpwYXNzd29yZA' } }))],
    ['without a colon in auth', json(dockerConfig({ 'registry.test': { auth: base64('password') } }))],
    ['with auth that is no base64', json(dockerConfig({ 'registry.test': { auth: 'pass word!' } }))],
    ['with auth of another type', json(dockerConfig({ 'registry.test': { auth: 7 } }))],
    ['that is not JSON', json('{"auths": password')],
    ['that is no object', json('"password"')],
    ['with an entry that is none', json(dockerConfig({ 'registry.test': 'password' }))],
    ['without auths', json('{"credHelpers":{"registry.test":"gcloud"}}')],
    [
      'of the older form',
      secret('kubernetes.io/dockercfg', { '.dockercfg': '{"dockercfg.test":{"auth":"YTpiY2RlZmc="}}' }),
    ],
    ['that holds none', SECRETS[1]!],
  ] as const) {
    it(`reads as the real one does: ${what}`, () => {
      const hidden = hidePullSecret(original, new SecretKeeper());
      expect(readings(hidden)).toEqual(readings(original));
      for (const word of ['password', PLANTED.secretPassword, PLANTED.opaque, base64('password')])
        expect(Object.values(hidden.data).join().replaceAll('"password":', '')).not.toContain(word);
    });
  }
});

describe('a keeper of secrets', () => {
  it('names each of them in the order in which they come, and knows them again', () => {
    const keeper = new SecretKeeper();
    const [one, other] = [keeper.learn('first-secret'), keeper.learn('other-secret')];
    expect(keeper.learn('first-secret')).toBe(one);
    expect(one).toMatch(/^<secret \d+>$/);
    expect(other).not.toBe(one);
    expect(keeper.text('a first-secret and other-secret, first-secret', '')).toBe(`a ${one} and ${other}, ${one}`);
  });

  it('takes the longer of two that begin alike', () => {
    const keeper = new SecretKeeper();
    const [short, long] = [keeper.learn('password'), keeper.learn('password-2')];
    expect(keeper.text('password-2 password', '')).toBe(`${long} ${short}`);
  });

  it('takes the shorter of two that begin alike where the longer does not go on', () => {
    const keeper = new SecretKeeper();
    const [long, short] = [keeper.learn('password-2'), keeper.learn('password')];
    expect(keeper.text('passwor password-3passwordpassword-2passwo', '')).toBe(
      `passwor ${short}-3${short}${long}passwo`,
    );
  });

  it('finds secrets of the largest size, and many of them', () => {
    const keeper = new SecretKeeper();
    const large = 'é"/+ large '.repeat(90_000);
    const many = Array.from({ length: 500 }, (_, index) => `${index} of many `.repeat(150));
    const [hidden, ...others] = [large, ...many].map((secret) => keeper.learn(secret));
    expect(keeper.text(`a ${large} and ${base64(large)}`, '')).toMatch(/^a <secret \d+> and <secret \d+>=*$/);
    expect(keeper.text(`a ${large}.`, '')).toBe(`a ${hidden}.`);
    expect(keeper.text(many.join(), '')).toBe(others.join());
    expect(keeper.text(large.slice(1), '')).toBe(large.slice(1));
  });

  it('does not look for short ones in other texts, and hides them where they are meant', () => {
    const keeper = new SecretKeeper();
    const hidden = keeper.learn('abc');
    expect(keeper.text('xabcx', '')).toBe('xabcx');
    const inFields = keeper.inFields(new Set(['password']));
    expect([inFields('abc', 'password'), inFields('abc', 'username'), inFields('', 'password')]).toEqual([
      hidden,
      'abc',
      '',
    ]);
  });

  it('leaves alone what is said in the open, before or after it has come to know it', () => {
    const keeper = new SecretKeeper();
    keeper.publish('pods', [{ env: 'said-before' }]);
    const before = keeper.learn('said-before');
    const after = keeper.learn('said-after');
    expect(keeper.text('said-before said-after', '')).toBe(`said-before ${after}`);
    keeper.publish('pods', [{ env: 'x said-after x' }]);
    expect(keeper.text('said-before said-after', '')).toBe('said-before said-after');
    const inFields = keeper.inFields(new Set(['password']));
    expect([inFields('said-before', 'password'), inFields('said-after', 'password')]).toEqual([before, after]);
  });
});
