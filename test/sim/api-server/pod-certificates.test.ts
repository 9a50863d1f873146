import { of } from 'rxjs';
import { expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { PodCertificateRequest } from '../../../src/model/references/pod-certificate-request.js';
import { podCertificateSourcesOf } from '../../../src/model/references/pod-certificate-source.js';
import { apiClient } from '../../../src/streams/cluster/api-client.js';
import { noMetrics } from '../../../src/streams/ports/metrics.js';
import { podCertificates } from '../../../src/streams/references/pod-certificates.js';
import type { AnsweredRequest } from '../../../src/tools/sim/api-server/simulated-api-server.js';
import { apiStage, NODE } from './api-stage.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const REQUESTS = '/apis/certificates.k8s.io/v1/podcertificaterequests';
const OWN = '/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests';
const CHAIN = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n';
const nothing = (): void => undefined;

/** The manager over a server with a network and a cache that allows what a node may do and nothing else. */
const stageOf = () => {
  const answers: AnsweredRequest[] = [];
  const { scheduler, server, pass } = apiStage({ answered: (answer) => answers.push(answer) });
  const create = (path: string, body: object) => server.do({ method: 'POST', path, body });
  const node = create('/api/v1/nodes', { metadata: { name: 'node-1' } }) as { readonly metadata: { uid: string } };
  create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'sa' } });
  const podCertificate = { signerName: 'test/signer', keyType: 'ED25519', credentialBundlePath: 'bundle' };
  const pod = create('/api/v1/namespaces/default/pods', {
    metadata: { name: 'web' },
    spec: {
      ...{ nodeName: 'node-1', serviceAccountName: 'sa', containers: [{ name: 'main', image: 'a' }] },
      volumes: [{ name: 'tls', projected: { sources: [{ podCertificate }] } }],
    },
  }) as Pod;
  pass(1_000);
  let keys = 0;
  const manager = podCertificates(
    {
      api: apiClient(server.connect(NODE), { qps: -1, burst: 0, scheduler }),
      keys: () => of({ privateKey: `key ${(keys += 1)}`, requestBase64: `signed by key ${keys}` }),
      ...{ scheduler, wallClock: scheduler.now, random: () => 0, metrics: noMetrics, recordEvent: nothing },
      log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    },
    { nodeName: 'node-1', node: () => ({ name: 'node-1', uid: node.metadata.uid }) },
  );
  const running = manager.run$.subscribe();
  const requests = (): readonly PodCertificateRequest[] => server.list(REQUESTS);
  return {
    ...{ server, pass, manager, pod, running, requests },
    /** Signs the newest request, for an hour; returns whose key has signed it. */
    sign: (): unknown => {
      const newest = requests().find(({ status }) => status?.conditions === undefined);
      if (!newest) throw new Error('no request waits');
      const at = (ms: number): string => new Date(scheduler.now() + ms).toISOString();
      const status = {
        ...{ conditions: [{ type: 'Issued', status: 'True' }], certificateChain: CHAIN },
        ...{ notBefore: at(0), beginRefreshAt: at(HOUR), notAfter: at(2 * HOUR) },
      };
      server.do({ method: 'PUT', path: `${OWN}/${newest.metadata.name}/status`, body: { ...newest, status } });
      return (newest.spec as Readonly<Record<string, unknown>>)['stubPKCS10Request'];
    },
    key: (): string => manager.read(podCertificateSourcesOf(pod)[0]!).privateKey,
    refused: () => answers.filter(({ code, user }) => user.kind === 'node' && code === 403),
  };
};

it('certificates of pods need nothing that a node may not ask for, and one watch while a pod has one', () => {
  const { server, pass, manager, pod, running, requests, sign, key, refused } = stageOf();
  expect(server.openWatches()).toBe(0);
  manager.register(pod);
  pass(1_000);
  expect(server.openWatches()).toBe(1);
  expect(key).toThrow('credential bundle is not issued yet');
  expect(sign()).toBe('signed by key 1');
  pass(100);
  expect(key()).toBe('key 1');
  pass(HOUR + 2 * MINUTE);
  expect(sign()).toBe('signed by key 2');
  pass(100);
  expect(key()).toBe('key 2');
  expect(requests()).toHaveLength(2);
  expect(refused()).toEqual([]);
  manager.forget(pod.metadata.uid);
  expect(server.openWatches()).toBe(0);
  running.unsubscribe();
});

it('a certificate that is due in an outage is requested when the server is back, and signed without another request', () => {
  const { server, pass, manager, pod, requests, sign, key, running } = stageOf();
  manager.register(pod);
  pass(1_000);
  sign();
  pass(HOUR - MINUTE);
  server.restart(10 * MINUTE);
  pass(10 * MINUTE);
  expect(key()).toBe('key 1');
  pass(3 * MINUTE);
  expect(requests()).toHaveLength(2);
  // The signer answers while no watch shows it.
  server.breakWatches('reset');
  sign();
  pass(MINUTE);
  expect(key()).toBe('key 2');
  expect(requests()).toHaveLength(2);
  running.unsubscribe();
});

it('a request that is deleted is made again, with the same answer for the pod meanwhile', () => {
  const { server, pass, manager, pod, requests, sign, key, running } = stageOf();
  manager.register(pod);
  pass(1_000);
  const [first] = requests();
  server.do({ method: 'DELETE', path: `${OWN}/${first?.metadata.name}` });
  pass(9 * MINUTE);
  expect(requests()).toEqual([]);
  expect(key).toThrow('credential bundle is not issued yet');
  pass(3 * MINUTE);
  expect(sign()).toBe('signed by key 2');
  pass(100);
  expect(key()).toBe('key 2');
  running.unsubscribe();
});
