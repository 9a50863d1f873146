import { describe, expect, it } from 'vitest';
import { TYPE_OF_PODS, typeOfAnswer, typeOfItems } from '../../../src/model/kube-api/type-of-path.js';
import { readApiObject } from '../../../src/model/kube-api/read-api-object.js';

const read = (type: string, value: unknown): unknown => {
  const found = readApiObject(value, type);
  return 'problem' in found ? found.problem : found.object;
};
const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
const meta = { name: 'a', namespace: 'default', uid: 'uid-a' };
const pod = (change: object, spec: object = {}): object => ({
  metadata: meta,
  spec: { containers: [{ name: 'main' }], ...spec },
  ...change,
});

describe('an object of the API', () => {
  it('that is right is the very one that came, with its unknown fields', () => {
    const object = {
      ...pod({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', ofTomorrow: [1] }] } }),
      ...{ ofTomorrow: { deep: [null, { a: 1 }] } },
    };
    expect(read(TYPE_OF_PODS, object)).toBe(object);
  });

  it('is read as a kubelet reads JSON: nulls, and what is missing, are empty', () => {
    const spec = {
      containers: [
        null,
        { name: 'a', env: null, args: ['x', null], resources: { limits: { cpu: 1, memory: null, 'a.b/c': ' 2 ' } } },
      ],
      initContainers: null,
      nodeSelector: { disk: null },
    };
    expect(read(TYPE_OF_PODS, pod({ spec, status: { containerStatuses: [{ name: 'a' }] } }))).toEqual({
      metadata: meta,
      spec: {
        containers: [
          { name: '' },
          { name: 'a', args: ['x', ''], resources: { limits: { cpu: '1', memory: '0', 'a.b/c': '2' } } },
        ],
        nodeSelector: { disk: '' },
      },
      status: { containerStatuses: [{ name: 'a', image: '', imageID: '', ready: false, restartCount: 0 }] },
    });
  });

  it.each<[string, unknown, string]>([
    [TYPE_OF_PODS, 'x', 'it is a string, expected a mapping with the fields of ApiPod'],
    [TYPE_OF_PODS, pod({}, { initContainers: 'x' }), 'spec.initContainers is a string, expected a list'],
    [
      TYPE_OF_PODS,
      pod({}, { containers: ['x'] }),
      'spec.containers[0] is a string, expected a mapping with the fields of Container',
    ],
    [TYPE_OF_PODS, pod({ status: { conditions: {} } }), 'status.conditions is a mapping, expected a list'],
    [
      TYPE_OF_PODS,
      pod({ metadata: { ...meta, deletionTimestamp: 'soon' } }),
      'metadata.deletionTimestamp is a string, expected a time such as "2006-01-02T15:04:05Z"',
    ],
    [
      TYPE_OF_PODS,
      pod({ metadata: { ...meta, deletionGracePeriodSeconds: 1.5 } }),
      'metadata.deletionGracePeriodSeconds is a number, expected a whole number',
    ],
    [TYPE_OF_PODS, pod({ ofTomorrow: nested(200) }), 'it is nested more than 100 levels deep'],
    ['Node', { metadata: meta, spec: { taints: 'x' } }, 'spec.taints is a string, expected a list'],
    ['Secret', { metadata: meta, data: { a: 'hunter2!' } }, 'data.a is a string, expected base64 text'],
    ['Service', { metadata: meta, spec: { ports: {} } }, 'spec.ports is a mapping, expected a list'],
  ])('of type %s that is %j cannot be read', (type, value, problem) => {
    expect(read(type, value)).toBe(`cannot be read: ${problem}`);
  });

  it.each<[string, object, string]>([
    ['Node', { metadata: { name: '../n' } }, 'has the metadata.name "../n"'],
    ['Secret', { metadata: { name: 'a', namespace: '..' } }, 'has the metadata.namespace ".."'],
    ['ConfigMap', { metadata: { name: 'a', uid: 'a/b' } }, 'has the metadata.uid "a/b"'],
    ['ConfigMap', { metadata: meta, data: { '../../etc/passwd': 'x' } }, 'has the key in data "../../etc/passwd"'],
    ['ConfigMap', { metadata: meta, binaryData: { '..data': '' } }, 'has the key in binaryData "..data"'],
    ['Secret', { metadata: meta, data: { 'a\nb': '' } }, 'has the key in data "a\\nb"'],
  ])('of type %s with %j has a name that Kubernetes does not allow', (type, value, problem) => {
    expect(read(type, value)).toContain(problem);
  });

  it.each([[null], [{}], [{ metadata: null }]])('that is %j has no metadata', (value) => {
    expect(read('RuntimeClass', value)).toBe('has no metadata');
  });

  it('keeps a field that is named like the prototype', () => {
    const value: unknown = JSON.parse('{"metadata":{"name":"a"},"__proto__":{"polluted":1},"immutable":null}');
    const object = read('Secret', value) as object;
    expect([Object.hasOwn(object, '__proto__'), (object as { polluted?: unknown }).polluted]).toEqual([
      true,
      undefined,
    ]);
  });
});

describe('the type of what the API answers', () => {
  it.each([
    ['GET', '/api/v1/nodes/n', 'Node'],
    ['PATCH', '/api/v1/nodes/n/status', 'Node'],
    ['POST', '/api/v1/nodes', 'Node'],
    ['GET', '/api/v1/nodes', undefined],
    ['PATCH', '/api/v1/namespaces/pods/pods/p/status', TYPE_OF_PODS],
    ['PUT', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n', 'Lease'],
    ['DELETE', '/api/v1/namespaces/default/pods/p', undefined],
    ['POST', '/api/v1/namespaces/default/serviceaccounts/s/token', undefined],
    ['POST', '/api/v1/namespaces/default/events', undefined],
    ['GET', '/api/v1/constructor/toString', undefined],
  ])('to %s %s is %s', (method, path, type) => {
    expect(typeOfAnswer(method, path)).toBe(type);
  });

  it.each([
    ['/api/v1/pods', TYPE_OF_PODS],
    ['/api/v1/namespaces/secrets/configmaps', 'ConfigMap'],
    ['/apis/node.k8s.io/v1/runtimeclasses', 'RuntimeClass'],
    ['/api/v1/things', undefined],
  ])('in a list of %s is %s', (path, type) => {
    expect(typeOfItems(path)).toBe(type);
  });
});
