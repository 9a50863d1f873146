import { describe, expect, it } from 'vitest';
import { podSchema } from '../../../src/generated/pod-schema.js';
import { readApiObject } from '../../../src/model/kube-api/read-api-object.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';

type Fields = Readonly<Record<string, unknown>>;
/** Wraps an object of a type into a pod, at one place where the type occurs. */
type Wrap = (object: Fields) => Fields;

const bare = { name: 'a', image: 'i' };
const pod = (
  fields: Fields,
  { metadata, spec }: { readonly metadata?: object; readonly spec?: object } = {},
): Fields => ({
  ...{ apiVersion: 'v1', kind: 'Pod', ...fields },
  metadata: { name: 'p', ...metadata },
  spec: { containers: [bare], ...spec },
});

/** Every type that occurs in a pod, with one place of it. */
const places = (): ReadonlyMap<string, Wrap> => {
  const found = new Map<string, Wrap>([
    ['Pod', (fields) => pod(fields)],
    ['ObjectMeta', (metadata) => pod({}, { metadata })],
    ['PodSpec', (spec) => pod({}, { spec })],
    ['Container', (container) => pod({}, { spec: { containers: [{ ...bare, ...container }] } })],
  ]);
  for (const [type, wrap] of found) {
    for (const [name, code] of Object.entries(podSchema[type] ?? {})) {
      const [, prefix = '', below = ''] = /^!?((?:\[\]|\{\})*)(.+)$/.exec(code) ?? [];
      if (!podSchema[below] || found.has(below)) continue;
      const inside = (object: Fields) => (prefix === '[]' ? [object] : prefix === '{}' ? { k: object } : object);
      found.set(below, (object) => wrap({ [name]: inside(object) }));
    }
  }
  return found;
};

const fields = [...places()].flatMap(([type, wrap]) =>
  Object.keys(podSchema[type] ?? {}).map((name) => [`${type}.${name}`, wrap, name] as const),
);

/** The pods and the problems of a manifest, without the positions of its text and the order that these give. */
const read = (value: unknown): unknown => {
  const { pods, problems, warnings } = readManifest(JSON.stringify(value), { file: 'f' });
  const said = [...problems, ...warnings]
    .map(({ field, message, expected }) => `${field} ${message} ${expected}`)
    .sort();
  return { pods: pods.map((one) => ({ ...one, position: undefined })), said };
};

/** What the agent has of a pod of the API server. */
const received = (value: unknown): unknown => readApiObject(value, 'Pod');

describe('a field that is null', () => {
  it('the schema of a pod has hundreds of fields', () => expect(fields.length).toBeGreaterThan(500));

  it('gives the same pod of a manifest as one that is absent, for every field of a pod', () => {
    for (const [field, wrap, name] of fields) {
      expect([field, read(wrap({ [name]: null }))]).toEqual([field, read(wrap({ [name]: undefined }))]);
    }
  });

  it('gives the same pod of the API server as one that is absent, for every field of a pod', () => {
    for (const [field, wrap, name] of fields) {
      expect([field, received(wrap({ [name]: null }))]).toEqual([field, received(wrap({ [name]: undefined }))]);
    }
  });
});

describe('a null in a list or a map', () => {
  it.each<[row: string, fields: Fields, zero: Fields]>([
    [
      'a text of a list',
      { containers: [{ ...bare, args: ['x', null] }] },
      { containers: [{ ...bare, args: ['x', ''] }] },
    ],
    ['a text of a map', { nodeSelector: { disk: null } }, { nodeSelector: { disk: '' } }],
    [
      'an amount',
      { containers: [{ ...bare, resources: { limits: { memory: null } } }] },
      { containers: [{ ...bare, resources: { limits: { memory: '0' } } }] },
    ],
    ['a number', { securityContext: { supplementalGroups: [null] } }, { securityContext: { supplementalGroups: [0] } }],
    ['an object', { imagePullSecrets: [null] }, { imagePullSecrets: [{}] }],
    ['an object with required fields', { containers: [null] }, { containers: [{}] }],
  ])('%s is the zero of its type, in a manifest and from the API server', (_, spec, zero) => {
    expect(read(pod({}, { spec }))).toEqual(read(pod({}, { spec: zero })));
    expect(received(pod({}, { spec }))).toEqual(received(pod({}, { spec: zero })));
  });
});

describe('a list of pods', () => {
  const list = (kind: string, items: unknown): Fields => ({ apiVersion: 'v1', kind, metadata: null, items });

  it.each(['PodList', 'List', 'ConfigMapList', 'SecretList'])(
    'a %s whose items are null or absent is empty',
    (kind) => {
      expect(read(list(kind, null))).toEqual({ pods: [], said: [] });
      expect(read(list(kind, undefined))).toEqual({ pods: [], said: [] });
    },
  );

  it.each(['PodList', 'List'])('an item of a %s with a null kind or version has those of the list', (kind) => {
    const items = (of: Fields) => list(kind, [pod(of)]);
    const whole = read(items({ kind: undefined, apiVersion: undefined })) as { readonly pods: readonly unknown[] };
    expect(whole.pods).toHaveLength(1);
    expect(read(items({ kind: null, apiVersion: null }))).toEqual(whole);
  });
});
