import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ConfigMap } from '../../../src/model/references/referenced-object.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { AnsweredRequest } from '../../../src/tools/sim/api-server/simulated-api-server.js';
import { apiClient } from '../../../src/streams/cluster/api-client.js';
import { type PodReferencesOptions, podReferences } from '../../../src/streams/references/pod-references.js';
import { apiStage, NODE } from './api-stage.js';

const MINUTE = 60_000;
const CONFIG_MAP = '/api/v1/namespaces/default/configmaps/cm';
const NOT_SYNCED = 'failed to sync configmap cache: timed out waiting for the condition';
const nothing = () => undefined;

const spec = {
  nodeName: 'node-1',
  serviceAccountName: 'sa',
  imagePullSecrets: [{ name: 'pull' }, { name: 'none' }],
  containers: [{ name: 'main', image: 'registry.test/web:1', envFrom: [{ configMapRef: { name: 'cm' } }] }],
};

/** What a node knows of objects, over a server that lets it ask what a node may ask and nothing else. */
const stageOf = (options: Partial<PodReferencesOptions> = {}, chance = 0) => {
  const answers: AnsweredRequest[] = [];
  const { scheduler, server, pass } = apiStage({ answered: (answer) => answers.push(answer) });
  const send = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => server.do({ method, path, body });
  const create = (plural: string, body: object) => send('POST', `/api/v1/namespaces/default/${plural}`, body);
  create('configmaps', { metadata: { name: 'cm' }, data: { A: '1' } });
  create('secrets', {
    ...{ metadata: { name: 'pull' }, type: 'kubernetes.io/dockerconfigjson' },
    data: { '.dockerconfigjson': btoa('{}') },
  });
  create('services', { metadata: { name: 'kubernetes' }, spec: { clusterIP: '10.0.0.1' } });
  send('POST', '/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'sandboxed' }, handler: 'runsc' });
  create('serviceaccounts', { metadata: { name: 'sa' } });
  // A cache of the server lags behind by some milliseconds.
  pass(1_000);

  const references = podReferences(
    {
      api: apiClient(server.connect(NODE), { qps: -1, burst: 0, scheduler }),
      ...{ scheduler, wallClock: scheduler.now, random: () => chance },
      log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    },
    { syncFrequencyMs: MINUTE, ...options },
  );
  const running = references.run$.subscribe();
  /** What was given within `withinMs`, or why nothing was. */
  const given = <T>(read$: Observable<T>, withinMs = 2_000): T | string => {
    const outcomes: (T | string)[] = [];
    read$.subscribe({
      next: (value) => outcomes.push(value),
      error: (error: unknown) => outcomes.push((error as Error).message),
    });
    pass(withinMs);
    expect(outcomes).toHaveLength(1);
    return outcomes[0]!;
  };
  const value = (withinMs?: number): unknown => {
    const found = given<ConfigMap>(references.configMap('default', 'cm'), withinMs);
    return typeof found === 'string' ? found : found.data?.['A'];
  };
  const write = (A: string) => send('PUT', CONFIG_MAP, { metadata: { name: 'cm' }, data: { A } });
  return {
    ...{ server, pass, send, references, running, given, value, write, answers },
    bind: () => create('pods', { metadata: { name: 'web' }, spec }) as Pod,
    refused: () => answers.filter(({ code, user }) => user.kind === 'node' && code === 403),
    asked: () =>
      answers.filter(({ request }) => request.path.includes('configmaps') && request.method === 'GET').length,
  };
};

describe('objects that are followed', () => {
  it('are known as they change, while a pod refers to them, and nothing is asked that a node may not ask', () => {
    const { references, bind, value, write, send, server, pass, refused, running } = stageOf();
    pass(5_000);
    const atRest = server.openWatches();
    expect(value()).toBe('object "default"/"cm" not registered');
    const pod = bind();
    references.register(pod);
    expect(value()).toBe('1');
    write('2');
    pass(100);
    expect(value(0)).toBe('2');
    send('DELETE', CONFIG_MAP);
    pass(100);
    expect(value(0)).toBe('configmap "cm" not found');
    // One for the ConfigMap, and one for each pull secret.
    expect(server.openWatches()).toBe(atRest + 3);
    references.unregister(pod);
    expect(server.openWatches()).toBe(atRest);
    expect(refused()).toEqual([]);
    running.unsubscribe();
    expect(server.openWatches()).toBe(0);
  });

  it('are watched for half an hour to an hour', () => {
    const { references, bind, pass, answers } = stageOf({}, 0.5);
    references.register(bind());
    pass(1_000);
    const watches = answers.filter(({ isWatch, request }) => isWatch && request.path.endsWith('/configmaps'));
    expect(watches.map(({ request }) => request.query?.['timeoutSeconds'])).toEqual(['2700']);
  });

  it('come in time though the server did not know yet that the pod is here', () => {
    const { references, bind, value, send, pass, refused } = stageOf();
    const pod = bind();
    send('DELETE', '/api/v1/namespaces/default/pods/web', { gracePeriodSeconds: 0 });
    references.register(pod);
    expect(value()).toBe(NOT_SYNCED);
    expect(refused()).not.toEqual([]);
    bind();
    pass(10_000);
    expect(value(0)).toBe('1');
  });

  it('are known while the server is away, also those that were idle', () => {
    const { references, bind, value, write, server, pass } = stageOf();
    references.register(bind());
    expect(value()).toBe('1');
    server.restart(30 * MINUTE);
    expect(value(0)).toBe('1');
    pass(20 * MINUTE);
    expect(value()).toBe('1');
    pass(20 * MINUTE);
    write('2');
    pass(MINUTE);
    expect(value()).toBe('2');
  });
});

describe('objects that are believed for a while', () => {
  it.each([
    ['the node object says', { annotations: { 'node.alpha.kubernetes.io/ttl': '30' }, ttlMs: 30_000 }],
    ['a minute where it says nothing', { annotations: {}, ttlMs: 60_000 }],
  ])('are asked for again when that is over: %s', (_, { annotations, ttlMs }) => {
    const { references, bind, value, write, pass, asked } = stageOf({
      ...{ changeDetection: 'Cache', nodeAnnotations: () => annotations },
    });
    references.register(bind());
    expect(value(100)).toBe('1');
    write('2');
    pass(ttlMs - 1_000);
    expect(value(100)).toBe('1');
    expect(asked()).toBe(1);
    pass(1_000);
    expect(value(100)).toBe('2');
    expect(asked()).toBe(2);
  });
});

describe('objects that are asked for at every read', () => {
  it('are as the server has them, in its own words', () => {
    const { references, bind, value, write, send, asked } = stageOf({ changeDetection: 'Get' });
    references.register(bind());
    expect(value()).toBe('1');
    write('2');
    expect(value()).toBe('2');
    send('DELETE', CONFIG_MAP);
    expect(value()).toBe('configmaps "cm" not found');
    expect(asked()).toBe(3);
  });
});

describe('besides, a node knows', () => {
  it('services as they come and go, without headless ones', () => {
    const { references, send, pass, answers } = stageOf();
    expect(references.services()).toBeUndefined();
    pass(5_000);
    expect(references.services()?.map(({ metadata }) => metadata.name)).toEqual(['kubernetes']);
    send('POST', '/api/v1/namespaces/default/services', { metadata: { name: 'db' }, spec: { clusterIP: '10.0.0.2' } });
    send('DELETE', '/api/v1/namespaces/default/services/kubernetes');
    pass(100);
    expect(references.services()?.map(({ metadata }) => metadata.name)).toEqual(['db']);
    const asked = answers.filter(({ request, user }) => request.path === '/api/v1/services' && user.kind === 'node');
    expect(asked.map(({ request }) => request.query?.['fieldSelector'])).toEqual([
      'spec.clusterIP!=None',
      'spec.clusterIP!=None',
    ]);
  });

  it('classes of the runtime', () => {
    const { references, pass } = stageOf();
    expect(() => references.runtimeClasses('sandboxed')).toThrow('classes have not been read yet');
    pass(1_000);
    expect(references.runtimeClasses('sandboxed')).toBe('runsc');
    expect(references.runtimeClasses('none')).toBeUndefined();
  });

  it('the secrets with which images are pulled, except those that are missing', () => {
    const { references, bind, given } = stageOf();
    const pod = bind();
    references.register(pod);
    expect(given(references.pullSecrets(pod))).toMatchObject([
      {
        namespace: 'default',
        name: 'pull',
        type: 'kubernetes.io/dockerconfigjson',
        data: { '.dockerconfigjson': '{}' },
      },
    ]);
    expect(given(references.pullSecrets({ ...pod, spec: { containers: [] } }))).toEqual([]);
  });

  it('tokens for its pods, until they are over', () => {
    const { references, bind, given, answers } = stageOf();
    const pod = bind();
    const purpose = { pod, namespace: 'default', serviceAccount: 'sa', audiences: [], expirationSeconds: 3_600 };
    const token = given(references.podToken(purpose));
    expect(token).toMatchObject({ token: expect.any(String) as string });
    expect(given(references.podToken(purpose))).toEqual(token);
    references.unregister(pod);
    given(references.podToken(purpose));
    const posts = answers.filter(({ request, user }) => user.kind === 'node' && request.method === 'POST');
    expect(posts.map(({ code, request }) => `${code} ${request.path}`)).toEqual([
      '201 /api/v1/namespaces/default/serviceaccounts/sa/token',
      '201 /api/v1/namespaces/default/serviceaccounts/sa/token',
    ]);
  });
});
