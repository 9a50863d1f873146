import { describe, expect, it } from 'vitest';
import { apiClient } from '../../../src/streams/cluster/api-client.js';
import { podReferences } from '../../../src/streams/references/pod-references.js';
import type { AnsweredRequest } from '../../../src/tools/sim/api-server/simulated-api-server.js';
import { aPod } from '../../support/a-pod.js';
import { apiStage, NODE } from './api-stage.js';

const MINUTE = 60_000;
const BUNDLES = '/apis/certificates.k8s.io/v1/clustertrustbundles';
const ROOTS = 'example.com:mesh:roots';
const nothing = () => undefined;
const pem = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
const user = (uid: string) =>
  aPod({ uid, spec: { volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { path: 'ca' } }] } }] } });

/** What a node knows of trust bundles, over a server that has them or not. */
const stageOf = () => {
  const answers: AnsweredRequest[] = [];
  const { scheduler, server, pass } = apiStage({ answered: (answer) => answers.push(answer) });
  const references = podReferences(
    {
      api: apiClient(server.connect(NODE), { qps: -1, burst: 0, scheduler }),
      ...{ scheduler, wallClock: scheduler.now, random: () => 0 },
      log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    },
    { syncFrequencyMs: MINUTE },
  );
  const running = references.run$.subscribe();
  const changes: string[] = [];
  references.changed$.subscribe(({ kind }) => changes.push(kind));
  /** The bundles with their certificates, or why there is no answer, within this time. */
  const value = (withinMs = 0): unknown => {
    const outcomes: unknown[] = [];
    references.trustBundles().subscribe({
      next: (found) => outcomes.push(Object.fromEntries(found.map(({ name, certificates }) => [name, certificates]))),
      error: (error: unknown) => outcomes.push((error as Error).message),
    });
    pass(withinMs);
    expect(outcomes).toHaveLength(1);
    return outcomes[0];
  };
  const body = (...certificates: string[]) => ({
    metadata: { name: ROOTS },
    spec: { signerName: 'example.com/mesh', trustBundle: certificates.map(pem).join('') },
  });
  return {
    ...{ server, pass, references, running, changes, value },
    create: (...certificates: string[]) => server.do({ method: 'POST', path: BUNDLES, body: body(...certificates) }),
    replace: (...certificates: string[]) =>
      server.do({ method: 'PUT', path: `${BUNDLES}/${ROOTS}`, body: body(...certificates) }),
    asked: () =>
      answers
        .filter(({ request, user: { kind } }) => kind === 'node' && request.path.startsWith('/apis/certificates'))
        .map(({ code, isWatch, request }) => `${code} ${isWatch ? 'watch' : 'get'} ${request.path}`),
  };
};

describe('the trust bundles of a cluster', () => {
  it('are asked for while a pod projects them, followed, and then not any more', () => {
    const { server, pass, references, running, changes, value, create, replace, asked } = stageOf();
    create('AAAA');
    pass(MINUTE);
    expect(asked()).toEqual([]);
    const atRest = server.openWatches();

    references.register(user('p'));
    expect(value(1_000)).toEqual({ [ROOTS]: ['AAAA'] });
    expect(asked()).toEqual(['200 get /apis/certificates.k8s.io/v1', `200 get ${BUNDLES}`, `200 watch ${BUNDLES}`]);
    replace('BBBB', 'CCCC');
    pass(100);
    expect(value()).toEqual({ [ROOTS]: ['BBBB', 'CCCC'] });
    server.do({ method: 'DELETE', path: `${BUNDLES}/${ROOTS}` });
    pass(100);
    expect(value()).toEqual({});
    expect(changes).toEqual(Array(3).fill('ClusterTrustBundles'));

    references.register(user('q'));
    references.unregister(user('p'));
    expect(server.openWatches()).toBe(atRest + 1);
    references.unregister(user('q'));
    expect(server.openWatches()).toBe(atRest);
    pass(10 * MINUTE);
    expect(asked()).toHaveLength(3);
    create('DDDD');
    pass(1_000);
    references.register(user('r'));
    expect(value(1_000)).toEqual({ [ROOTS]: ['DDDD'] });
    running.unsubscribe();
  });

  it('stay known while the server is away', () => {
    const { server, pass, references, value, create } = stageOf();
    create('AAAA');
    // A cache of the server lags behind by some milliseconds.
    pass(1_000);
    references.register(user('p'));
    expect(value(1_000)).toEqual({ [ROOTS]: ['AAAA'] });
    server.restart(30 * MINUTE);
    pass(20 * MINUTE);
    expect(value()).toEqual({ [ROOTS]: ['AAAA'] });
  });

  it('of a server that has none are found within a minute after its upgrade', () => {
    const { server, pass, references, changes, value, create } = stageOf();
    create('AAAA');
    server.serve('clustertrustbundles', false);
    references.register(user('p'));
    expect(value(1_000)).toContain('the API server has no clustertrustbundles.certificates.k8s.io');
    pass(10 * MINUTE);
    server.serve('clustertrustbundles', true);
    expect(changes).toEqual([]);
    pass(MINUTE + 1_000);
    expect(value()).toEqual({ [ROOTS]: ['AAAA'] });
    expect(changes).toEqual(['ClusterTrustBundles']);
  });
});
