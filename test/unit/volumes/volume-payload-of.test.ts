import { describe, expect, it } from 'vitest';
import type { Volume } from '../../../src/model/manifest/volume-defaults.js';
import type { Pod, PodSpec } from '../../../src/model/pod/pod.js';
import type { FoundObjects } from '../../../src/model/volumes/found-objects.js';
import { payloadNeeds } from '../../../src/model/volumes/payload-needs.js';
import { volumePayload } from '../../../src/model/volumes/volume-payload-of.js';
import { aContainer, aPod } from '../pods.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const NODE = { allocatable: { memory: '8Gi', cpu: '4' } };
const FOUND: FoundObjects = {
  configMap: (name) =>
    name === 'c'
      ? {
          metadata: { name },
          data: { a: 'text', both: 'text' },
          binaryData: { b: base64('\0bin'), both: base64('bin') },
        }
      : name === 'away'
        ? new Error('failed to sync configmap cache: timed out waiting for the condition')
        : undefined,
  secret: (name) => (name === 's' ? { metadata: { name }, data: { key: base64('hidden') } } : undefined),
  token: ({ audiences }) => (audiences[0] === 'away' ? new Error('failed to fetch token: no route') : 'token'),
  trustBundles: () => [{ name: 'roots', signerName: '', labels: {}, certificates: ['AAAA'] }],
  podCertificate: ({ signerName }) => {
    if (signerName === 'slow') throw new Error('credential bundle is not issued yet');
    return { privateKey: `key of ${signerName},`, certificateChain: 'chain' };
  },
};

const filesOf = (
  source: Omit<Volume, 'name'>,
  spec: Partial<PodSpec> = {},
  metadata: Partial<Pod['metadata']> = {},
): object =>
  Object.fromEntries(
    [...(volumePayload(aPod(spec, metadata), { name: 'v', ...source }, FOUND, NODE) ?? [])].map(
      ([path, { data, mode, user }]) => [
        path,
        `${Buffer.from(data).toString('latin1')} ${mode.toString(8)}${user === undefined ? '' : ` ${user}`}`,
      ],
    ),
  );
const item = (key: string, path: string, mode?: number) => ({ key, path, ...(mode !== undefined && { mode }) });

describe('the files of a configMap', () => {
  it('are all keys, binary data first', () => {
    expect(filesOf({ configMap: { name: 'c', defaultMode: 0o644 } })).toEqual({
      a: 'text 644',
      b: '\0bin 644',
      both: 'bin 644',
    });
  });

  it('are the items, text first, each with its mode', () => {
    const items = [item('a', 'd/x', 0o400), item('both', 'y'), item('b', 'z')];
    expect(filesOf({ configMap: { name: 'c', defaultMode: 0o644, items } })).toEqual({
      'd/x': 'text 400',
      y: 'text 644',
      z: '\0bin 644',
    });
  });

  it.each([
    [{ name: 'none' }, 'configmap "none" not found'],
    [{ name: 'away' }, 'failed to sync configmap cache: timed out waiting for the condition'],
    [{ name: 'away', optional: true }, 'failed to sync configmap cache: timed out waiting for the condition'],
    [{ name: 'c', items: [item('none', 'x')] }, 'configmap references non-existent config key: none'],
    [{ name: 'c', items: [item('toString', 'x')] }, 'configmap references non-existent config key: toString'],
    [{ name: 'c', items: [item('a', '../x')] }, "invalid path: must not contain '..': ../x"],
  ])('%j are not available: %s', (configMap, text) => {
    expect(() => filesOf({ configMap: { defaultMode: 0o644, ...configMap } })).toThrow(text);
  });

  it('may be missing where they are optional', () => {
    expect(filesOf({ configMap: { name: 'none', defaultMode: 0o644, optional: true } })).toEqual({});
    const items = [item('none', 'x'), item('a', 'y')];
    expect(filesOf({ configMap: { name: 'c', defaultMode: 0o644, optional: true, items } })).toEqual({ y: 'text 644' });
    expect(filesOf({ configMap: { name: 'none', defaultMode: 0o644, optional: true, items } })).toEqual({});
  });
});

describe('the files of a secret', () => {
  it('are its decoded keys', () => {
    expect(filesOf({ secret: { secretName: 's', defaultMode: 0o400 } })).toEqual({ key: 'hidden 400' });
  });

  it.each([
    [{ secretName: 'none' }, 'secret "none" not found'],
    [{ secretName: 's', items: [item('none', 'x')] }, 'references non-existent secret key: none'],
  ])('%j are not available: %s', (secret, text) => {
    expect(() => filesOf({ secret: { defaultMode: 0o644, ...secret } })).toThrow(text);
  });
});

it.each(['configMap', 'secret', 'downwardAPI', 'projected'])('a %s needs a defaultMode', (kind) => {
  expect(() => filesOf({ [kind]: {} })).toThrow('no defaultMode used, not even the default value for it');
});

const field = (path: string, fieldPath: string) => ({ path, fieldRef: { fieldPath } });
const resource = (path: string, name: string, divisor?: string, containerName = 'web') => ({
  path,
  resourceFieldRef: { containerName, resource: name, ...(divisor !== undefined && { divisor }) },
});
const downward = (...items: NonNullable<NonNullable<Volume['downwardAPI']>['items']>) => ({
  downwardAPI: { defaultMode: 0o644, items },
});

describe('the files of the downward API', () => {
  const metadata = {
    labels: { tier: 'front', app: 'a "quoted" one' },
    annotations: { note: 'two\nlines', 'example.com/b': '1' },
  };

  it('are the metadata of the pod', () => {
    const volume = downward(
      field('name', 'metadata.name'),
      field('./d//namespace', 'metadata.namespace'),
      field('uid', 'metadata.uid'),
      field('labels', 'metadata.labels'),
      field('annotations', 'metadata.annotations'),
      field('tier', "metadata.labels['tier']"),
      field('b', "metadata.annotations['example.com/b']"),
      field('none', "metadata.annotations['none']"),
    );
    expect(filesOf(volume, {}, metadata)).toEqual({
      name: 'p 644',
      'd/namespace': 'default 644',
      uid: 'uid-1 644',
      labels: 'app="a \\"quoted\\" one"\ntier="front" 644',
      annotations: 'example.com/b="1"\nnote="two\\nlines" 644',
      tier: 'front 644',
      b: '1 644',
      none: ' 644',
    });
  });

  it('are resources of a container, in units of the divisor, up to those of the node', () => {
    const web = aContainer('web', { resources: { requests: { cpu: '250m' }, limits: { memory: '65Mi' } } });
    const volume = downward(
      resource('cpu', 'requests.cpu', '1m'),
      resource('memory', 'limits.memory', '64Mi'),
      resource('cores', 'limits.cpu'),
    );
    expect(filesOf(volume, { containers: [web] })).toEqual({ cpu: '250 644', memory: '2 644', cores: '4 644' });
  });

  it('report all errors together', () => {
    const volume = downward(
      field('ip', 'status.podIP'),
      resource('x', 'limits.cpu', '1', 'none'),
      field('n', 'spec.nodeName'),
    );
    expect(() => filesOf(volume)).toThrow(
      '[unsupported fieldPath: status.podIP, container none not found, unsupported fieldPath: spec.nodeName]',
    );
    expect(() => filesOf(downward(field('/etc/x', 'metadata.name')))).toThrow('must be relative path: /etc/x');
    expect(() => filesOf(downward(resource('x', 'limits.cpu', '1', '')))).toThrow('container  not found');
  });
});

const projected = (...sources: NonNullable<NonNullable<Volume['projected']>['sources']>) => ({
  projected: { defaultMode: 0o644, sources },
});
const token = (audience?: string) => ({
  serviceAccountToken: { path: 'token', ...(audience !== undefined && { audience }) },
});

describe('the files of a projected volume', () => {
  it('read each object and field once, since a pod may name the same one in thousands of them', () => {
    const reads: string[] = [];
    /** An object that counts the reads of its keys. */
    const counted = <T extends object>(name: string, data: T): T =>
      new Proxy(data, { ownKeys: (target) => (reads.push(name), Reflect.ownKeys(target)) });
    const found: FoundObjects = {
      ...FOUND,
      configMap: (name) => ({ metadata: { name }, data: counted('configMap', { a: 'text' }) }),
      secret: (name) => ({ metadata: { name }, data: counted('secret', { key: base64('hidden') }) }),
    };
    const paths = ['1', '2', '3'];
    const sources = paths.flatMap((path) => [
      { configMap: { name: 'c', items: [item('a', `c${path}`)] } },
      { secret: { name: 's', items: [item('key', `s${path}`)] } },
      { downwardAPI: { items: [field(`d${path}`, 'metadata.annotations'), resource(`r${path}`, 'limits.cpu')] } },
    ]);
    const metadata = { annotations: counted('annotations', { note: 'x' }) };
    const pod = aPod({ containers: [aContainer('web')] }, metadata);
    const files = volumePayload(pod, { name: 'v', ...projected(...sources) }, found, NODE);
    expect(files?.size).toBe(12);
    expect(reads.toSorted()).toEqual(['annotations', 'configMap', 'secret']);
    for (const kind of ['c', 's', 'd', 'r'])
      expect(new Set(paths.map((path) => files?.get(`${kind}${path}`)?.data)).size).toBe(1);
  });

  it('are read from the last of equal sources alone', () => {
    const names: string[] = [];
    const found: FoundObjects = { ...FOUND, configMap: (name) => (names.push(name), FOUND.configMap(name)) };
    const [c, other] = [{ configMap: { name: 'c' } }, { secret: { name: 's', items: [item('key', 'a')] } }];
    const files = volumePayload(aPod(), { name: 'v', ...projected(c, other, c, c) }, found, NODE);
    expect(names).toEqual(['c']);
    expect(Buffer.from(files?.get('a')?.data ?? []).toString()).toBe('text');
  });

  it('are those of all sources, the last one first', () => {
    const volume = projected(
      { configMap: { name: 'c', items: [item('a', 'x'), item('a', 'y')] } },
      { secret: { name: 's', items: [item('key', 'x', 0o400)] } },
      { downwardAPI: { items: [field('name', 'metadata.name')] } },
      token(),
    );
    expect(filesOf(volume)).toEqual({ x: 'hidden 400', y: 'text 644', name: 'p 644', token: 'token 644' });
  });

  it('report the errors of all sources, each once', () => {
    const volume = projected({ configMap: { name: 'none' } }, { secret: { name: 'none' } }, token('away'), {
      secret: { name: 'none' },
    });
    expect(() => filesOf(volume)).toThrow(
      '[configmap "none" not found, secret "none" not found, failed to fetch token: no route]',
    );
  });

  it('have the key and the chain of a certificate in one file, and each in one of its own', () => {
    const certificate = (signerName: string, paths: object) => ({
      podCertificate: { keyType: 'ED25519', signerName, ...paths },
    });
    const volume = projected(
      certificate('one', { credentialBundlePath: 'bundle' }),
      certificate('two', { keyPath: 'key', certificateChainPath: 'chain' }),
      certificate('three', { credentialBundlePath: '', keyPath: 'third' }),
    );
    const [one, two] = ['key of one,chain', 'key of two,'];
    expect(filesOf(volume)).toEqual({
      ...{ bundle: `${one} 644`, key: `${two} 644`, chain: 'chain 644', third: 'key of three, 644' },
    });
    expect(filesOf(volume, { securityContext: { runAsUser: 5 } })).toEqual({
      ...{ bundle: `${one} 600 5`, key: `${two} 600 5`, chain: 'chain 600 5', third: 'key of three, 600 5' },
    });
    expect(() => filesOf(projected(certificate('slow', { keyPath: 'key' })))).toThrow(
      'credential bundle is not issued yet',
    );
  });

  it.each([
    ['for every user without user and group', {}, 'token 644'],
    ['for its user', { securityContext: { runAsUser: 5 } }, 'token 600 5'],
    ['for the group, which the ownership adds', { securityContext: { fsGroup: 7 } }, 'token 600'],
    ['for both', { securityContext: { runAsUser: 5, fsGroup: 7 } }, 'token 600 5'],
  ])('have a token and trust anchors %s', (_, spec, expected) => {
    const roots = { clusterTrustBundle: { name: 'roots', path: 'ca.pem' } };
    const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(filesOf(projected(token(), roots), spec)).toEqual({
      token: expected,
      'ca.pem': expected.replace('token', pem),
    });
  });

  it('do not include trust anchors that are not there', () => {
    expect(() => filesOf(projected({ clusterTrustBundle: { name: 'none', path: 'ca.pem' } }))).toThrow(
      'clustertrustbundle.certificates.k8s.io "none" not found',
    );
  });
});

it('a volume that users fill has no files of the agent', () => {
  expect(volumePayload(aPod(), { name: 'v', emptyDir: {} }, FOUND, NODE)).toBeUndefined();
});

describe('the needs of a volume', () => {
  it('are its objects and tokens, each once', () => {
    const pod = aPod({ serviceAccountName: 'sa' });
    const sources = [
      { configMap: { name: 'c' } },
      { secret: { name: 's' } },
      { configMap: { name: 'c' } },
      token('vault'),
      { serviceAccountToken: { path: 'other', expirationSeconds: 600 } },
    ];
    const purpose = { pod, namespace: 'default', serviceAccount: 'sa' };
    expect(payloadNeeds(pod, { name: 'v', ...projected(...sources) })).toEqual({
      configMaps: ['c'],
      secrets: ['s'],
      tokens: [
        { ...purpose, audiences: ['vault'], expirationSeconds: 3600 },
        { ...purpose, audiences: [], expirationSeconds: 600 },
      ],
      hasTrustBundles: false,
      podCertificates: [],
    });
    const roots = { clusterTrustBundle: { name: 'roots', path: 'ca.pem' } };
    expect(payloadNeeds(pod, { name: 'v', ...projected(token(), roots) }).hasTrustBundles).toBe(true);
    expect(payloadNeeds(pod, { name: 'v', configMap: { name: 'c' } }).configMaps).toEqual(['c']);
    expect(payloadNeeds(pod, { name: 'v', secret: { secretName: 's' } }).secrets).toEqual(['s']);
    expect(payloadNeeds(pod, { name: 'v', emptyDir: {} })).toEqual({
      ...{ configMaps: [], secrets: [], tokens: [], podCertificates: [] },
      hasTrustBundles: false,
    });
    const projection = { signerName: 's', keyType: 'ED25519' };
    const { podCertificates } = payloadNeeds(aPod({}, { uid: 'u' }), {
      name: 'v',
      ...projected(token(), { podCertificate: projection }),
    });
    expect(podCertificates).toEqual([{ key: '["u","v",1]', projection }]);
  });
});
