import { describe, expect, it } from 'vitest';
import { CreateContainerConfigError } from '../../../src/model/cri/create-container-config-error.js';
import { type EnvInput, environment } from '../../../src/model/cri/env.js';
import type { Container } from '../../../src/model/pod.js';
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
const objects = {
  configMap: (name: string) => (name === 'cm' ? { KEY: 'from-cm', OTHER: 'o' } : undefined),
  secret: (name: string) => (name === 's' ? { KEY: 'from-s' } : undefined),
};

describe('environment', () => {
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

  it('takes whole objects first, later ones and single variables over earlier ones', () => {
    const envFrom = [
      { configMapRef: { name: 'cm' } },
      { prefix: 'P_', configMapRef: { name: 'cm' } },
      { secretRef: { name: 's' } },
    ];
    expect(env({ envFrom, env: [{ name: 'OTHER', value: '$(KEY)!' }] }, { objects })).toEqual({
      KEY: 'from-s',
      OTHER: 'from-s!',
      P_KEY: 'from-cm',
      P_OTHER: 'o',
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
    ];
    expect(env({ env: variables }, { objects })).toEqual({ C: 'from-cm', S: 'from-s' });
  });

  it.each<[container: Partial<Container>, hasObjects: boolean, message: string]>([
    [
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'cm', key: 'k' } } }] },
      false,
      'the environment of container "web" refers to ConfigMap "cm", which needs an API server',
    ],
    [
      { envFrom: [{ secretRef: { name: 's' } }] },
      false,
      'the environment of container "web" refers to Secret "s", which needs an API server',
    ],
    [{ envFrom: [{ configMapRef: { name: 'x' } }] }, true, 'configmap "x" not found'],
    [
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
      true,
      "couldn't find key k in Secret default/s",
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

  it('leaves out optional objects where there is no API server', () => {
    expect(env({ envFrom: [{ configMapRef: { name: 'cm', optional: true } }] })).toEqual({});
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
  ])('%s cannot be had', (path, fields, message) => {
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
    [{ resource: 'limits.cpu', containerName: 'other' }, '3'],
    [{ resource: 'limits.memory', containerName: 'other', divisor: '1Gi' }, '8'],
  ])('%j: %s', (selector, value) => {
    expect(read(selector)).toBe(value);
  });

  it('takes the limit of the pod before all that the node has', () => {
    const spec = { resources: { limits: { 'ephemeral-storage': '1Gi' } } };
    expect(read({ resource: 'limits.ephemeral-storage', divisor: '1Gi' }, spec)).toBe('1');
  });

  it.each([
    [{ resource: 'limits.gpus' }, 'unsupported container resource : limits.gpus'],
    [{ resource: 'limits.cpu', containerName: 'none' }, 'container none not found'],
    [{ resource: 'limits.cpu', divisor: 'x' }, 'the divisor of limits.cpu: "x" is not a quantity'],
  ])('%j cannot be had', (selector, message) => {
    expect(() => read(selector)).toThrow(message);
  });
});
