import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../../src/streams/ports/api-server.js';
import { apiStage, NODE, podNamed, PODS_PATH } from './api-stage.js';

const NODES = '/api/v1/nodes';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const strategic = 'application/strategic-merge-patch+json';

const withCluster = () => {
  const stage = apiStage();
  const { server } = stage;
  server.do({ method: 'POST', path: '/api/v1/namespaces/default/secrets', body: { metadata: { name: 'used' } } });
  server.do({ method: 'POST', path: '/api/v1/namespaces/default/secrets', body: { metadata: { name: 'unused' } } });
  const node = stage.object({ method: 'POST', path: NODES, body: { metadata: { name: 'node-1' } } });
  server.do({ method: 'POST', path: NODES, body: { metadata: { name: 'node-2' } } });
  const spec = {
    nodeName: 'node-1',
    containers: [{ name: 'main', image: 'a', envFrom: [{ secretRef: { name: 'used' } }] }],
  };
  server.do({ method: 'POST', path: PODS_PATH, body: { ...podNamed('mine'), spec } });
  server.do({ method: 'POST', path: PODS_PATH, body: podNamed('theirs', { nodeName: 'node-2' }) });
  return { ...stage, uid: node.metadata.uid };
};

const mirror = (uid: string | undefined, controller = true): object => ({
  ...podNamed('static-node-1'),
  metadata: {
    name: 'static-node-1',
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid, controller }],
  },
});

describe('the agent of a node', () => {
  const allowed: readonly (readonly [string, (uid: string | undefined) => ApiRequest])[] = [
    [
      'list its own pods',
      () => ({ method: 'GET', path: '/api/v1/pods', query: { fieldSelector: 'spec.nodeName=node-1' } }),
    ],
    ['read its own pod', () => ({ method: 'GET', path: `${PODS_PATH}/mine` })],
    [
      'write the status of its own pod',
      () => ({ method: 'PATCH', path: `${PODS_PATH}/mine/status`, body: { status: {} }, contentType: strategic }),
    ],
    ['delete its own pod', () => ({ method: 'DELETE', path: `${PODS_PATH}/mine` })],
    ['create a mirror pod', (uid) => ({ method: 'POST', path: PODS_PATH, body: mirror(uid) })],
    ['read a secret that its pod names', () => ({ method: 'GET', path: '/api/v1/namespaces/default/secrets/used' })],
    [
      'list that secret by its name',
      () => ({
        method: 'GET',
        path: '/api/v1/namespaces/default/secrets',
        query: { fieldSelector: 'metadata.name=used' },
      }),
    ],
    ['read its own node', () => ({ method: 'GET', path: `${NODES}/node-1` })],
    [
      'label its own node',
      () => ({
        method: 'PATCH',
        path: `${NODES}/node-1`,
        body: { metadata: { labels: { 'kubernetes.io/os': 'linux' } } },
        contentType: strategic,
      }),
    ],
    ['make its own lease', () => ({ method: 'POST', path: LEASES, body: { metadata: { name: 'node-1' } } })],
    ['list services', () => ({ method: 'GET', path: '/api/v1/services' })],
  ];
  it.each(allowed)('may %s', (_, request) => {
    const { ask, uid } = withCluster();
    expect(() => ask(request(uid), NODE)).not.toThrow();
  });

  const forbidden: readonly (readonly [string, (uid: string | undefined) => ApiRequest])[] = [
    ['list all pods', () => ({ method: 'GET', path: '/api/v1/pods' })],
    ['read the pod of another node', () => ({ method: 'GET', path: `${PODS_PATH}/theirs` })],
    ['read a pod that is gone', () => ({ method: 'GET', path: `${PODS_PATH}/gone` })],
    [
      'write the status of the pod of another node',
      () => ({ method: 'PATCH', path: `${PODS_PATH}/theirs/status`, body: { status: {} }, contentType: strategic }),
    ],
    [
      'relabel a pod',
      () => ({
        method: 'PATCH',
        path: `${PODS_PATH}/mine/status`,
        body: { metadata: { labels: { app: 'x' } } },
        contentType: strategic,
      }),
    ],
    [
      'change a pod',
      () => ({
        method: 'PATCH',
        path: `${PODS_PATH}/mine`,
        body: { metadata: { annotations: { a: 'b' } } },
        contentType: strategic,
      }),
    ],
    ['delete the pod of another node', () => ({ method: 'DELETE', path: `${PODS_PATH}/theirs` })],
    ['create a pod that is no mirror', () => ({ method: 'POST', path: PODS_PATH, body: podNamed('new') })],
    ['create a mirror pod for another node object', () => ({ method: 'POST', path: PODS_PATH, body: mirror('other') })],
    [
      'create a mirror pod that it does not control',
      (uid) => ({ method: 'POST', path: PODS_PATH, body: mirror(uid, false) }),
    ],
    ['read a secret that no pod names', () => ({ method: 'GET', path: '/api/v1/namespaces/default/secrets/unused' })],
    ['list all secrets', () => ({ method: 'GET', path: '/api/v1/namespaces/default/secrets' })],
    [
      'change another node',
      () => ({
        method: 'PATCH',
        path: `${NODES}/node-2`,
        body: { metadata: { labels: { a: 'b' } } },
        contentType: strategic,
      }),
    ],
    [
      'taint its own node',
      () => ({
        method: 'PATCH',
        path: `${NODES}/node-1`,
        body: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
        contentType: strategic,
      }),
    ],
    [
      'label its own node as it must not',
      () => ({
        method: 'PATCH',
        path: `${NODES}/node-1`,
        body: { metadata: { labels: { 'node-restriction.kubernetes.io/a': 'b' } } },
        contentType: strategic,
      }),
    ],
    [
      'make the lease of another node',
      () => ({ method: 'POST', path: LEASES, body: { metadata: { name: 'node-2' } } }),
    ],
  ];
  it.each(forbidden)('may not %s', (_, request) => {
    const { refusal, uid } = withCluster();
    expect(refusal(request(uid), NODE)).toBe('403 Forbidden');
  });
});
