import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../../src/streams/ports/api-server.js';
import { apiStage, NODE, podNamed, PODS_PATH } from './api-stage.js';

const NODES = '/api/v1/nodes';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const CERTIFICATES = '/apis/certificates.k8s.io/v1/podcertificaterequests';
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
    serviceAccountName: 'robot',
    containers: [{ name: 'main', image: 'a', envFrom: [{ secretRef: { name: 'used' } }] }],
  };
  for (const name of ['robot', 'other'])
    server.do({ method: 'POST', path: ACCOUNTS, body: { metadata: { name, uid: `uid-of-${name}` } } });
  server.do({ method: 'POST', path: PODS_PATH, body: { ...podNamed('mine'), spec } });
  server.do({ method: 'POST', path: PODS_PATH, body: podNamed('theirs', { nodeName: 'node-2' }) });
  const uidAt = (path: string): string => server.get(path)?.metadata.uid ?? '';
  /** A request of the node for a certificate of its pod; `change` changes its spec. */
  const certificate = (change: object = {}): ApiRequest => ({
    method: 'POST',
    path: CERTIFICATES.replace('/podc', '/namespaces/default/podc'),
    body: {
      metadata: { generateName: 'req-' },
      spec: {
        ...{ podName: 'mine', podUID: uidAt(`${PODS_PATH}/mine`), nodeName: 'node-1', nodeUID: node.metadata.uid },
        ...{ serviceAccountName: 'robot', serviceAccountUID: uidAt(`${ACCOUNTS}/robot`) },
        ...change,
      },
    },
  });
  return { ...stage, uid: node.metadata.uid, certificate, uidAt };
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
    ['read the account of its pod', () => ({ method: 'GET', path: `${ACCOUNTS}/robot` })],
    [
      'list the requests for certificates of its pods',
      () => ({ method: 'GET', path: CERTIFICATES, query: { fieldSelector: 'spec.nodeName=node-1' } }),
    ],
    ['list services', () => ({ method: 'GET', path: '/api/v1/services' })],
  ];
  it('may request a certificate of its own pod, for the account of the pod and as itself', () => {
    const { ask, refusal, certificate, uidAt } = withCluster();
    expect(() => ask(certificate(), NODE)).not.toThrow();
    const changes = [
      { podName: 'theirs', podUID: uidAt(`${PODS_PATH}/theirs`) },
      ...[{ podName: 'none' }, { podUID: 'other' }, { nodeName: 'node-2' }, { nodeUID: uidAt(`${NODES}/node-2`) }],
      { serviceAccountName: 'other', serviceAccountUID: uidAt(`${ACCOUNTS}/other`) },
      { serviceAccountUID: uidAt(`${ACCOUNTS}/other`) },
    ];
    expect(changes.map((change) => refusal(certificate(change), NODE))).toEqual(changes.map(() => '403 Forbidden'));
  });

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
    ['read an account of no pod', () => ({ method: 'GET', path: `${ACCOUNTS}/other` })],
    ['list all requests for certificates of pods', () => ({ method: 'GET', path: CERTIFICATES })],
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
