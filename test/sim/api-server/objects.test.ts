import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../../src/streams/ports/api-server.js';
import { apiStage, podNamed, PODS_PATH } from './api-stage.js';

const POD = `${PODS_PATH}/web`;

describe('an object that is created', () => {
  it('gets a UID, the time, a version and what the API adds to a pod', () => {
    const { object } = apiStage();
    const pod = object({ method: 'POST', path: PODS_PATH, body: podNamed('web') });
    expect(pod).toMatchObject({
      metadata: { name: 'web', namespace: 'default', generation: 1 },
      spec: { restartPolicy: 'Always', terminationGracePeriodSeconds: 30, nodeName: 'node-1' },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    });
    expect(pod.metadata.uid).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(pod.metadata.creationTimestamp).toMatch(/^2026-01-01T00:00:0\dZ$/);
    expect(Number(pod.metadata.resourceVersion)).toBeGreaterThan(0);
  });

  it('may have its name made up, which no other has', () => {
    const { object } = apiStage();
    const create = () =>
      object({
        method: 'POST',
        path: '/api/v1/namespaces/default/events',
        body: { metadata: { generateName: 'web.' } },
      });
    const names = [create(), create()].map(({ metadata }) => metadata.name);
    expect(names[0]).toMatch(/^web\.[a-z0-9]{5}$/);
    expect(names[0]).not.toBe(names[1]);
  });

  it.each([
    ['one of that name is there', { method: 'POST', path: PODS_PATH, body: podNamed('web') }, '409 AlreadyExists'],
    ['it has no name', { method: 'POST', path: PODS_PATH, body: { metadata: {} } }, '422 Invalid'],
    [
      'it has a version',
      { method: 'POST', path: PODS_PATH, body: { metadata: { name: 'x', resourceVersion: '1' } } },
      '422 Invalid',
    ],
    ['there is none of that name', { method: 'GET', path: `${PODS_PATH}/other` }, '404 NotFound'],
    ['nothing is there', { method: 'GET', path: '/api/v1/namespaces/default/things' }, '404 NotFound'],
    ['a list is deleted', { method: 'DELETE', path: PODS_PATH }, '405 MethodNotAllowed'],
    [
      'the patch is unknown',
      { method: 'PATCH', path: POD, body: {}, contentType: 'text/plain' },
      '415 UnsupportedMediaType',
    ],
  ] as const)('is refused when %s', (_, request, refused) => {
    const { ask, refusal } = apiStage();
    ask({ method: 'POST', path: PODS_PATH, body: podNamed('web') });
    expect(refusal(request)).toBe(refused);
  });
});

describe('a write', () => {
  it('of the spec leaves the status alone, one of the status the spec, and only the former counts as a generation', () => {
    const { ask, object } = apiStage();
    ask({ method: 'POST', path: PODS_PATH, body: podNamed('web') });
    const contentType = 'application/merge-patch+json';
    const both = {
      spec: { activeDeadlineSeconds: 60 },
      status: { phase: 'Running' },
    };
    expect(object({ method: 'PATCH', path: `${POD}/status`, body: both, contentType })).toMatchObject({
      metadata: { generation: 1 },
      status: { phase: 'Running', qosClass: 'BestEffort' },
    });
    const written = object({ method: 'PATCH', path: POD, body: { ...both, status: { phase: 'Failed' } }, contentType });
    expect(written).toMatchObject({
      metadata: { generation: 2 },
      spec: { activeDeadlineSeconds: 60 },
      status: { phase: 'Running' },
    });
  });

  it('merges conditions by their type when the patch is a strategic one', () => {
    const { ask, object } = apiStage();
    ask({ method: 'POST', path: PODS_PATH, body: podNamed('web') });
    const write = (type: string, status: string) =>
      object({
        ...{ method: 'PATCH', path: `${POD}/status`, contentType: 'application/strategic-merge-patch+json' },
        body: { status: { conditions: [{ type, status }] } },
      });
    write('Ready', 'False');
    write('example.com/gate', 'True');
    expect(write('Ready', 'True').status?.['conditions']).toEqual(
      expect.arrayContaining([
        { type: 'Ready', status: 'True' },
        { type: 'example.com/gate', status: 'True' },
      ]),
    );
  });

  it('of another UID, of an older version or of what must stay is refused', () => {
    const { ask, object, refusal } = apiStage();
    const pod = object({ method: 'POST', path: PODS_PATH, body: podNamed('web') });
    const contentType = 'application/merge-patch+json';
    const patch = (body: object) => ({ method: 'PATCH', path: `${POD}/status`, body, contentType }) as const;
    expect(refusal(patch({ metadata: { uid: 'another' } }))).toBe('422 Invalid');
    ask(patch({ status: { phase: 'Running' } }));
    expect(refusal({ method: 'PUT', path: POD, body: pod })).toBe('409 Conflict');
    expect(refusal(patch({ status: { qosClass: 'Burstable' } }))).toBe('422 Invalid');
    const other = { spec: { restartPolicy: 'Never' } };
    expect(refusal({ method: 'PATCH', path: POD, body: other, contentType })).toBe('403 Forbidden');
  });

  it('may set the deadline of a pod and make it shorter, not longer', () => {
    const { ask, object, refusal } = apiStage();
    ask({ method: 'POST', path: PODS_PATH, body: podNamed('web') });
    const deadline = (activeDeadlineSeconds: number | null): ApiRequest => ({
      ...{ method: 'PATCH', path: POD, contentType: 'application/merge-patch+json' },
      body: { spec: { activeDeadlineSeconds } },
    });
    expect(object(deadline(60)).spec).toMatchObject({ activeDeadlineSeconds: 60 });
    expect(object(deadline(15)).spec).toMatchObject({ activeDeadlineSeconds: 15 });
    expect([refusal(deadline(42)), refusal(deadline(null))]).toEqual(['422 Invalid', '422 Invalid']);
    expect(object(deadline(15)).spec).toMatchObject({ activeDeadlineSeconds: 15 });
  });

  it('that changes nothing makes no version', () => {
    const { ask, object, server } = apiStage();
    ask({ method: 'POST', path: PODS_PATH, body: podNamed('web') });
    const before = server.revision();
    const contentType = 'application/merge-patch+json';
    object({ method: 'PATCH', path: `${POD}/status`, body: { status: { phase: 'Pending' } }, contentType });
    expect(server.revision()).toBe(before);
  });

  it.each([
    { case: 'does not bring back to life what has ended for good', rules: {}, isRefused: true },
    {
      case: 'brings back to life what a rule may restart with all others',
      rules: {
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
      },
      isRefused: false,
    },
  ])('$case', ({ rules, isRefused }) => {
    const { ask, refusal } = apiStage();
    const containers = [
      { name: 'main', image: 'a' },
      { name: 'other', image: 'a', ...rules },
    ];
    const never = { ...podNamed('web'), spec: { nodeName: 'node-1', restartPolicy: 'Never', containers } };
    ask({ method: 'POST', path: PODS_PATH, body: never });
    const show = (state: object) =>
      ({
        ...{ method: 'PATCH', path: `${POD}/status`, contentType: 'application/merge-patch+json' },
        body: { status: { containerStatuses: [{ name: 'main', state }] } },
      }) as ApiRequest;
    ask(show({ running: null, terminated: { exitCode: 0 } }));
    const revive = show({ terminated: null, running: {} });
    if (isRefused) expect(refusal(revive)).toBe('422 Invalid');
    else expect(ask(revive)).toMatchObject({ status: { containerStatuses: [{ state: { running: {} } }] } });
  });
});

describe('the end of a pod', () => {
  const created = () => {
    const stage = apiStage();
    return { ...stage, pod: stage.object({ method: 'POST', path: PODS_PATH, body: podNamed('web') }) };
  };

  it('is announced with its grace first, and comes with a grace of 0', () => {
    const { object, ask, refusal } = created();
    const marked = object({ method: 'DELETE', path: POD });
    expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, generation: 2 });
    const leftMs = Date.parse(marked.metadata.deletionTimestamp!) - Date.parse(marked.metadata.creationTimestamp!);
    expect(leftMs).toBeGreaterThanOrEqual(30_000);
    ask({ method: 'DELETE', path: POD, body: { gracePeriodSeconds: 0 } });
    expect(refusal({ method: 'GET', path: POD })).toBe('404 NotFound');
  });

  it('is only ever brought nearer', () => {
    const { object } = created();
    const until = (gracePeriodSeconds?: number) =>
      object({ method: 'DELETE', path: POD, body: { gracePeriodSeconds } }).metadata.deletionGracePeriodSeconds;
    expect([until(), until(600), until(400), until()]).toEqual([30, 30, 30, 30]);
    // A minute has gone by with every request.
    expect(until(20)).toBe(1);
  });

  it('comes at once when it has ended, or was never on a node', () => {
    const { ask, refusal } = created();
    const body = { status: { phase: 'Succeeded' } };
    ask({ method: 'PATCH', path: `${POD}/status`, body, contentType: 'application/merge-patch+json' });
    ask({ method: 'DELETE', path: POD });
    expect(refusal({ method: 'GET', path: POD })).toBe('404 NotFound');
    ask({ method: 'POST', path: PODS_PATH, body: podNamed('web', { nodeName: '' }) });
    ask({ method: 'DELETE', path: POD });
    expect(refusal({ method: 'GET', path: POD })).toBe('404 NotFound');
  });

  it('is refused for a pod of another UID', () => {
    const { pod, ask, refusal } = created();
    const end = (uid: string | undefined) =>
      ({ method: 'DELETE', path: POD, body: { gracePeriodSeconds: 0, preconditions: { uid } } }) as const;
    expect(refusal(end('another'))).toBe('409 Conflict');
    ask(end(pod.metadata.uid));
  });
});

describe('a list', () => {
  const three = () => {
    const stage = apiStage();
    for (const name of ['a', 'b', 'c'])
      stage.ask({
        method: 'POST',
        path: PODS_PATH,
        body: podNamed(name, { nodeName: name === 'b' ? 'node-2' : 'node-1', labels: { app: name } }),
      });
    const names = (query: Readonly<Record<string, string>>) =>
      (
        stage.ask({ method: 'GET', path: '/api/v1/pods', query }) as { items: { metadata: { name: string } }[] }
      ).items.map(({ metadata }) => metadata.name);
    return { ...stage, names };
  };

  it.each([
    [{ fieldSelector: 'spec.nodeName=node-1' }, ['a', 'c']],
    [{ fieldSelector: 'spec.nodeName!=node-1' }, ['b']],
    [{ fieldSelector: 'metadata.namespace=default,metadata.name=c' }, ['c']],
    [{ labelSelector: 'app=a' }, ['a']],
    [{ labelSelector: 'app in (a, b),app!=b' }, ['a']],
    [{ labelSelector: '!app' }, []],
    [{ labelSelector: 'app' }, ['a', 'b', 'c']],
  ])('selects by %j', (query, expected) => {
    expect(three().names(query)).toEqual(expected);
  });

  it('comes in pages of one version, with any changes between them', () => {
    const { ask } = three();
    interface Page {
      readonly metadata: { readonly continue?: string; readonly resourceVersion: string };
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    }
    const page = (more: object) => ask({ method: 'GET', path: PODS_PATH, query: { limit: '2', ...more } }) as Page;
    const first = page({});
    ask({ method: 'DELETE', path: `${PODS_PATH}/c`, body: { gracePeriodSeconds: 0 } });
    const second = page({ continue: first.metadata.continue });
    expect([...first.items, ...second.items].map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    expect(second.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
  });

  it('is refused when its pages are too old, its version is not there yet, or it selects by what it cannot', () => {
    const { ask, refusal, server } = three();
    const query = { limit: '1' };
    const { metadata } = ask({ method: 'GET', path: PODS_PATH, query }) as { metadata: { continue: string } };
    server.do({ method: 'DELETE', path: `${PODS_PATH}/a` });
    server.compact();
    expect(refusal({ method: 'GET', path: PODS_PATH, query: { ...query, continue: metadata.continue } })).toBe(
      '410 Expired',
    );
    expect(refusal({ method: 'GET', path: PODS_PATH, query: { resourceVersion: '1000' } })).toBe('504 Timeout');
    expect(refusal({ method: 'GET', path: PODS_PATH, query: { fieldSelector: 'spec.hostNetwork=true' } })).toBe(
      '400 BadRequest',
    );
  });

  it('of any version is whole, and may be a little behind', () => {
    expect(three().names({ resourceVersion: '0', limit: '1' })).toEqual(['a', 'b', 'c']);
    const behind = apiStage({ cacheLagMs: { min: 50, max: 50 }, latencyMs: { min: 0, max: 0 } });
    behind.server.do({ method: 'POST', path: PODS_PATH, body: podNamed('a') });
    behind.pass(100);
    behind.server.do({ method: 'POST', path: PODS_PATH, body: podNamed('b') });
    // The cache does not have the second one when the list arrives.
    const { items } = behind.ask({ method: 'GET', path: PODS_PATH, query: { resourceVersion: '0' } }) as {
      items: object[];
    };
    expect(items).toHaveLength(1);
  });
});

describe('a token', () => {
  it('is given for a pod that is there, and lasts as long as was asked', () => {
    const { ask, object, refusal } = apiStage();
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    const spec = { expirationSeconds: 3607, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'x' } };
    expect(refusal({ method: 'POST', path, body: { metadata: {}, spec } })).toBe('404 NotFound');
    ask({
      method: 'POST',
      path: '/api/v1/namespaces/default/serviceaccounts',
      body: { metadata: { name: 'default' } },
    });
    const pod = object({ method: 'POST', path: PODS_PATH, body: podNamed('web') });
    expect(refusal({ method: 'POST', path, body: { metadata: {}, spec } })).toBe('409 Conflict');
    const bound = { ...spec, boundObjectRef: { ...spec.boundObjectRef, uid: pod.metadata.uid } };
    const answer = object({ method: 'POST', path, body: { metadata: {}, spec: bound } });
    expect(answer.status?.['token']).toMatch(/^token-of-default-default-/);
    expect(Date.parse(answer.status?.['expirationTimestamp'] as string)).toBeGreaterThan(Date.UTC(2026, 0, 1, 1));
  });
});
