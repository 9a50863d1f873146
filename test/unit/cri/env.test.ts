import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { CreateContainerConfigError } from '../../../src/model/cri/create-container-config-error.js';
import { type EnvInput, environment } from '../../../src/model/cri/env.js';
import type { Container } from '../../../src/model/pod/pod.js';
import { aContainer, aNode, aPod } from '../pods.js';

const env = (container: Partial<Container>, fields: Partial<EnvInput> = {}) =>
  Object.fromEntries(
    environment({
      pod: aPod(),
      container: aContainer('web', container),
      podIps: ['10.0.0.1'],
      node: aNode(),
      ...fields,
    }),
  );
/** What is not there is not found, and the one called `away` cannot be read. */
const held =
  (kind: string, wanted: string, data: Readonly<Record<string, string>>) =>
  (name: string): Readonly<Record<string, string>> => {
    if (name === wanted) return data;
    if (name === 'away') throw new Error(`failed to sync ${kind} cache: timed out waiting for the condition`);
    throw new ApiError({ code: 404, reason: 'NotFound', message: `${kind} "${name}" not found` });
  };
const objects = {
  configMap: held('configmap', 'cm', { KEY: 'from-cm', OTHER: 'o', 'not.a-name': 'any' }),
  secret: held('secret', 's', { KEY: 'from-s' }),
};

describe('environment', () => {
  it('is no longer than a process of Linux can start with, however few variables make it long', () => {
    const doubled = (count: number) => [
      { name: 'A0', value: 'x'.repeat(1024) },
      ...Array.from({ length: count }, (_, index) => ({ name: `A${index + 1}`, value: `$(A${index})$(A${index})` })),
    ];
    const tooLong = 'the variables or the command are longer than 6 MiB, with which no process starts';
    // Of 4 MiB less 1 KiB in all, and of twice as much.
    expect(Object.keys(env({ env: doubled(11) }))).toHaveLength(12);
    expect(() => env({ env: doubled(12) })).toThrow(new CreateContainerConfigError(tooLong));
    const large = { objects: { ...objects, configMap: () => ({ KEY: 'x'.repeat(2 ** 20 - 16) }) } };
    const same = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        name: `A${index}`,
        valueFrom: { configMapKeyRef: { name: 'cm', key: 'KEY' } },
      }));
    expect(Object.keys(env({ env: same(6) }, large))).toHaveLength(6);
    expect(() => env({ env: same(7) }, large)).toThrow(tooLong);
    const prefixed = Array.from({ length: 7 }, (_, index) => ({ prefix: `P${index}`, configMapRef: { name: 'cm' } }));
    expect(() => env({ envFrom: prefixed }, large)).toThrow(tooLong);
    const empty = { ...objects, configMap: () => ({ 'a-long-key-without-a-value': '' }) };
    const often = Array.from({ length: 2 ** 18 }, () => ({ configMapRef: { name: 'cm' } }));
    expect(() => env({ envFrom: often }, { objects: empty })).toThrow(tooLong);
  });

  it('lets a variable see the ones before it', () => {
    expect(
      env({
        env: [
          { name: 'LATE', value: '$(A)' },
          { name: 'A', value: '1' },
          { name: 'B', value: '$(A)$(A)$$(A)' },
          { name: 'EMPTY' },
          { name: 'A', value: '2' },
        ],
      }),
    ).toEqual({ LATE: '$(A)', A: '2', B: '11$(A)', EMPTY: '' });
  });

  it('has the bytes of a Secret that are no text', () => {
    const bytes = Uint8Array.of(0xff, 0xfe, 0xfd);
    const found = { ...objects, secret: () => ({ K: bytes }) };
    expect(
      env(
        {
          envFrom: [{ secretRef: { name: 's' } }],
          env: [
            { name: 'ONE', valueFrom: { secretKeyRef: { name: 's', key: 'K' } } },
            { name: 'WITHIN', value: '<$(ONE)>' },
          ],
        },
        { objects: found },
      ),
    ).toEqual({ K: bytes, ONE: bytes, WITHIN: Buffer.from([0x3c, 0xff, 0xfe, 0xfd, 0x3e]) });
  });

  it('takes whole objects first, later ones and single variables over earlier ones', () => {
    const envFrom = [
      { configMapRef: { name: 'cm' } },
      { prefix: 'P_', configMapRef: { name: 'cm' } },
      { secretRef: { name: 's' } },
    ];
    expect(env({ envFrom, env: [{ name: 'OTHER', value: '$(KEY)!' }] }, { objects })).toEqual({
      KEY: 'from-s',
      OTHER: 'from-s!',
      'not.a-name': 'any',
      P_KEY: 'from-cm',
      P_OTHER: 'o',
      'P_not.a-name': 'any',
    });
  });

  it('adds services last, though variables may refer to them', () => {
    const services = { A_HOST: '10.1.1.1', B: 'service' };
    expect(env({ env: [{ name: 'B', value: 'at $(A_HOST)' }] }, { services })).toEqual({
      A_HOST: '10.1.1.1',
      B: 'at 10.1.1.1',
    });
  });

  it('takes keys of objects', () => {
    const variables = [
      { name: 'C', valueFrom: { configMapKeyRef: { name: 'cm', key: 'KEY' } } },
      { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'KEY' } } },
      { name: 'NO_KEY', valueFrom: { configMapKeyRef: { name: 'cm', key: 'no', optional: true } } },
      { name: 'NO_OBJECT', valueFrom: { secretKeyRef: { name: 'no', key: 'no', optional: true } } },
      { name: 'NO_PROPERTY', valueFrom: { configMapKeyRef: { name: 'cm', key: 'constructor', optional: true } } },
    ];
    expect(env({ env: variables }, { objects })).toEqual({ C: 'from-cm', S: 'from-s' });
  });

  it.each<[container: Partial<Container>, hasObjects: boolean, message: string]>([
    [
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'cm', key: 'k' } } }] },
      false,
      "couldn't get configMap default/cm, no kubeClient defined",
    ],
    [{ envFrom: [{ secretRef: { name: 's' } }] }, false, "couldn't get secret default/s, no kubeClient defined"],
    [
      { envFrom: [{ configMapRef: { name: 'cm', optional: true } }] },
      false,
      "couldn't get configMap default/cm, no kubeClient defined",
    ],
    [
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
      true,
      "couldn't find key k in Secret default/s",
    ],
    [
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'cm', key: 'toString' } } }] },
      true,
      "couldn't find key toString in ConfigMap default/cm",
    ],
    [
      { env: [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } }] },
      true,
      'cannot find the volume "v" referenced by FileKeyRef',
    ],
  ])('%j: %s', (container, hasObjects, message) => {
    const run = () => env(container, hasObjects ? { objects } : {});
    expect(run).toThrow(CreateContainerConfigError);
    expect(run).toThrow(message);
  });

  it.each<[container: Partial<Container>, message: string]>([
    [{ envFrom: [{ configMapRef: { name: 'x' } }] }, 'configmap "x" not found'],
    [{ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'x', key: 'k' } } }] }, 'secret "x" not found'],
    [
      { envFrom: [{ secretRef: { name: 'away', optional: true } }] },
      'failed to sync secret cache: timed out waiting for the condition',
    ],
  ])('passes on why an object is not available: %j: %s', (container, message) => {
    expect(() => env(container, { objects })).toThrow(message);
  });

  describe('fileKeyRef', () => {
    const file = (values: Readonly<Record<string, string>>, problem?: string) => ({
      path: '/v/p',
      values: new Map(Object.entries(values)),
      ...(problem !== undefined && { problem }),
    });
    const envFiles = new Map([
      ['v/p', file({ k: 'value', empty: '' })],
      ['v/broken', file({ k: 'value', empty: '' }, 'line 3: hunter2')],
    ]);
    const run = (reference: object, fields: Partial<EnvInput> = {}) =>
      env(
        {
          env: [
            { name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k', ...reference } } },
            { name: 'B', value: '$(A)!' },
          ],
        },
        { envFiles, ...fields },
      );

    it.each<[reference: object, value: string]>([
      [{}, 'value'],
      [{ optional: true }, 'value'],
      [{ path: 'broken' }, 'value'],
    ])('%j has a value, which later variables may use', (reference, value) => {
      expect(run(reference)).toEqual({ A: value, B: `${value}!` });
    });

    it.each([{ key: 'x' }, { key: 'empty' }, { path: 'broken', key: 'empty' }])(
      '%j is left out if it is optional, and an error otherwise',
      (reference) => {
        expect(run({ ...reference, optional: true })).toEqual({ B: '$(A)!' });
        expect(() => run(reference)).toThrow(
          new CreateContainerConfigError(
            `environment variable key "${'key' in reference ? reference.key : ''}" not found in file "/v/p"`,
          ),
        );
      },
    );

    it.each([{}, { optional: true }, { key: 'x' }, { volumeName: 'w' }])(
      '%j is an empty variable while the gate is off',
      (reference) => {
        const node = { ...aNode(), readsEnvFiles: false };
        expect(run(reference, { node })).toEqual({ A: '', B: '!' });
        expect(run(reference, { node, envFiles: new Map() })).toEqual({ A: '', B: '!' });
      },
    );

    it.each<[reference: object, message: string]>([
      [{ volumeName: 'w' }, 'cannot find the volume "w" referenced by FileKeyRef'],
      [{ path: 'broken', key: 'x' }, "couldn't parse env file"],
    ])('%j is an error, also if it is optional', (reference, message) => {
      for (const optional of [true, false])
        expect(() => run({ ...reference, optional })).toThrow(new CreateContainerConfigError(message));
    });
  });

  it('leaves out optional objects that do not exist', () => {
    const optional = { name: 'x', optional: true };
    expect(env({ envFrom: [{ configMapRef: optional }, { secretRef: optional }] }, { objects })).toEqual({});
  });
});

describe('fieldRef', () => {
  const pod = aPod(
    { nodeName: 'n1', serviceAccountName: 'sa' },
    { labels: { b: '2', a: 'with "quotes"\n' }, annotations: { 'x/y': '\u0007\u001b' } },
  );
  const read = (fieldPath: string, fields: Partial<EnvInput> = {}) =>
    env({ env: [{ name: 'V', valueFrom: { fieldRef: { fieldPath } } }] }, { pod, ...fields }).V;

  it.each([
    ['metadata.name', 'p'],
    ['metadata.namespace', 'default'],
    ['metadata.uid', 'uid-1'],
    ["metadata.labels['b']", '2'],
    ["metadata.labels['none']", ''],
    ["metadata.annotations['x/y']", '\u0007\u001b'],
    ['metadata.labels', 'a="with \\"quotes\\"\\n"\nb="2"'],
    ['metadata.annotations', 'x/y="\\a\\x1b"'],
    ['spec.nodeName', 'n1'],
    ['spec.serviceAccountName', 'sa'],
    ['status.hostIP', '192.168.1.10'],
    ['status.podIP', '10.0.0.1'],
    ['status.podIPs', '10.0.0.1'],
  ])('%s', (path, value) => {
    expect(read(path)).toBe(value);
  });

  it('puts the family of the node first and takes one address of each', () => {
    const podIps = ['10.0.0.1', 'fd00::1', '10.0.0.2'];
    const node = aNode({ nodeIps: ['fd00::a', '192.168.1.10'] });
    expect(read('status.podIPs', { podIps, node })).toBe('fd00::1,10.0.0.1');
    expect(read('status.hostIPs', { node })).toBe('fd00::a,192.168.1.10');
  });

  it('has the address of the node on the host network', () => {
    expect(read('status.podIP', { pod: aPod({ hostNetwork: true }), podIps: [] })).toBe('192.168.1.10');
  });

  it.each([
    ['status.phase', {}, 'unsupported fieldPath: status.phase'],
    ['status.hostIP', { node: aNode({ nodeIps: [] }) }, 'cannot get host IP address: the node has none'],
  ])('%s is not available', (path, fields, message) => {
    expect(() => read(path, fields)).toThrow(message);
  });
});

describe('resourceFieldRef', () => {
  const resources = { limits: { cpu: '1500m', memory: '100Mi' }, requests: { cpu: '250m' } };
  const read = (selector: { resource: string; divisor?: string; containerName?: string }, spec = {}) =>
    env(
      { resources, env: [{ name: 'V', valueFrom: { resourceFieldRef: selector } }] },
      {
        pod: aPod({
          containers: [aContainer('web'), aContainer('other', { resources: { limits: { cpu: '3' } } })],
          ...spec,
        }),
      },
    ).V;

  it.each([
    [{ resource: 'limits.cpu' }, '2'],
    [{ resource: 'limits.cpu', divisor: '1m' }, '1500'],
    [{ resource: 'requests.cpu' }, '1'],
    [{ resource: 'requests.cpu', divisor: '1m' }, '250'],
    [{ resource: 'limits.memory' }, '104857600'],
    [{ resource: 'limits.memory', divisor: '1Mi' }, '100'],
    [{ resource: 'limits.memory', divisor: '3Mi' }, '34'],
    [{ resource: 'requests.memory' }, '0'],
    [{ resource: 'limits.ephemeral-storage', divisor: '1Gi' }, '100'],
    [{ resource: 'limits.hugepages-2Mi' }, '0'],
    [{ resource: 'limits.cpu', divisor: '0' }, '2'],
    [{ resource: 'limits.cpu', divisor: '0m' }, '2'],
    [{ resource: 'limits.cpu', divisor: '0.0' }, '2'],
    [{ resource: 'limits.cpu', containerName: 'other' }, '3'],
    [{ resource: 'limits.memory', containerName: 'other', divisor: '1Gi' }, '8'],
  ])('%j: %s', (selector, value) => {
    expect(read(selector)).toBe(value);
  });

  it('takes the limit of the pod before all that the node has', () => {
    const spec = { resources: { limits: { memory: '1Gi' } } };
    expect(read({ resource: 'limits.memory', divisor: '1Gi' }, spec)).toBe('1');
  });

  it.each(['0', '0m'])('takes a limit of %s for none', (cpu) => {
    const zero = (spec = {}) =>
      env(
        {
          resources: { limits: { cpu } },
          env: [{ name: 'V', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }],
        },
        { pod: aPod({ containers: [aContainer('web')], ...spec }), node: aNode({ allocatable: { cpu: '7' } }) },
      ).V;
    expect(zero()).toBe('7');
    expect(zero({ resources: { limits: { cpu: '0' } } })).toBe('7');
    expect(zero({ resources: { limits: { cpu: '3' } } })).toBe('3');
  });

  it('takes only CPU, memory and huge pages for limits that a pod has of its own', () => {
    const ofNode = read({ resource: 'limits.ephemeral-storage' });
    expect(
      read({ resource: 'limits.ephemeral-storage' }, { resources: { limits: { 'ephemeral-storage': '1' } } }),
    ).toBe(ofNode);
  });

  it.each([
    [{ resource: 'limits.gpus' }, 'unsupported container resource : limits.gpus'],
    [{ resource: 'limits.cpu', containerName: 'none' }, 'container none not found'],
    [{ resource: 'limits.cpu', divisor: 'x' }, 'the divisor of limits.cpu: "x" is not a quantity'],
  ])('%j is not available', (selector, message) => {
    expect(() => read(selector)).toThrow(message);
  });
});
