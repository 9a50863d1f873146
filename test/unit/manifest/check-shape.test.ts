import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { podSchema } from '../../../src/generated/pod-schema.js';
import { checkShape } from '../../../src/model/manifest/check-shape.js';
import { formatFieldPath } from '../../../src/model/manifest/field-issue.js';
import { jsonSchema } from './json-schema.js';

const ajv = new Ajv({ allErrors: true, strict: false });
(addFormats as unknown as (target: Ajv) => void)(ajv);
const accepts = ajv.compile(jsonSchema());

/** Values that fit no type, or several. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    '',
    'a',
    '1',
    '500m',
    '1Gi',
    'AAAA',
    '2026-01-02T03:04:05Z',
    true,
    false,
    0,
    1,
    -1,
    1.5,
    2 ** 40,
  ),
  fc.constantFrom<unknown>([], ['a'], [1], {}, { a: 'b' }, { name: 'x' }, { key: 1 }),
);

/** A value that mostly fits the code, and is odd here and there. */
const valueOf = (code: string, depth: number): fc.Arbitrary<unknown> => {
  if (code.startsWith('[]')) return fc.array(fittingOrOdd(code.slice(2), depth), { maxLength: 2 });
  if (code.startsWith('{}'))
    return fc.dictionary(fc.constantFrom('a', 'b/c'), fittingOrOdd(code.slice(2), depth), {
      maxKeys: 2,
      noNullPrototype: true,
    });
  const scalars: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    '*': odd,
    s: fc.string({ maxLength: 3 }),
    b: fc.boolean(),
    i: fc.integer({ min: -5, max: 70_000 }),
    l: fc.integer(),
    n: fc.constantFrom(0, 1.5),
    q: fc.constantFrom<unknown>('1', '500m', '1.5Gi', 2, 0.25),
    x: fc.constantFrom<unknown>(80, 'http'),
    t: fc.constant('2026-01-02T03:04:05Z'),
    y: fc.constant('AAAA'),
  };
  return scalars[code] ?? objectOf(code, depth);
};

const fittingOrOdd = (code: string, depth: number): fc.Arbitrary<unknown> =>
  depth > 6
    ? odd
    : fc
        .oneof({ weight: 60, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: odd })
        .chain((chosen) => (chosen === 0 ? valueOf(code, depth) : fc.constant(chosen)));

const objectOf = (type: string, depth: number): fc.Arbitrary<unknown> => {
  const fields = Object.entries(podSchema[type]!);
  const required = fields.filter(([, code]) => code.startsWith('!'));
  const few = fc.subarray(fields, { maxLength: Math.min(fields.length, Math.max(1, 4 - depth)) });
  return fc.tuple(few, fc.nat(40)).chain(([chosen, dice]) => {
    const all = dice === 0 ? chosen : [...new Map([...required, ...chosen])];
    const record = Object.fromEntries(
      all.map(([name, code]) => [name, fittingOrOdd(code.replace('!', ''), depth + 1)]),
    );
    return dice === 1 ? fc.record({ ...record, unheardOf: fc.constant(1) }) : fc.record(record);
  });
};

describe('checkShape', () => {
  it('agrees with a JSON Schema validator over the same table', () => {
    let good = 0;
    let bad = 0;
    fc.assert(
      fc.property(objectOf('Pod', 0), (value) => {
        const { issues } = checkShape(value, 'Pod');
        if (accepts(value)) good += 1;
        else bad += 1;
        expect({ isGood: issues.length === 0, value }).toEqual({ isGood: accepts(value), value });
      }),
      { numRuns: 1500, seed: 7 },
    );
    // Neither side would show much if nearly all were of one kind.
    expect(Math.min(good, bad)).toBeGreaterThan(150);
  });

  it('knows what the API requires, and what it calls things', () => {
    expect(podSchema['Container']).toMatchObject({
      name: '!s',
      image: 's',
      ports: '[]ContainerPort',
      resources: 'ResourceRequirements',
    });
    expect(podSchema['ContainerPort']).toMatchObject({ containerPort: '!i' });
    expect(podSchema['HTTPGetAction']).toMatchObject({ port: '!x' });
    expect(podSchema['ResourceRequirements']).toMatchObject({ limits: '{}q' });
    expect(podSchema['EmptyDirVolumeSource']).toMatchObject({ sizeLimit: 'q' });
    expect(podSchema['Pod']).toMatchObject({ status: '*' });
  });

  it('drops nulls and keeps everything else', () => {
    const value = {
      metadata: { name: 'a', labels: { x: null }, creationTimestamp: null },
      spec: { containers: [{ name: 'c', command: null }] },
    };
    expect(checkShape(value, 'Pod')).toEqual({
      value: { metadata: { name: 'a', labels: { x: '' } }, spec: { containers: [{ name: 'c' }] } },
      issues: [],
    });
  });

  it.each([
    [['spec', 'containers', 0, 'ports', 1, 'hostPort'], 'spec.containers[0].ports[1].hostPort'],
    [['metadata', 'labels', 'a/b'], 'metadata.labels["a/b"]'],
    [['items', 2], 'items[2]'],
    [[], ''],
  ])('writes the path %j as %s', (path, expected) => {
    expect(formatFieldPath(path)).toBe(expected);
  });
});
