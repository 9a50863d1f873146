import { expect, it } from 'vitest';
import type { CreateContainerRequest } from '../../src/generated/runtime/v1/api.js';
import { simulatedApiServer } from '../../src/tools/sim/api-server/simulated-api-server.js';
import { seededRandom } from '../../src/tools/sim/world/seeded-random.js';
import { simulatedNode } from '../../src/tools/sim/simulated-node.js';
import { VirtualScheduler } from '../../src/tools/sim/world/virtual-scheduler.js';

const NAMESPACE = '/api/v1/namespaces/default';
/** FF FE FD, which is no UTF-8. */
const DATA = '//79';

it('gives a container the bytes of a Secret as they are, by env and by envFrom', () => {
  const scheduler = new VirtualScheduler();
  const server = simulatedApiServer({ scheduler, random: seededRandom('server') });
  const requests: CreateContainerRequest[] = [];
  const node = simulatedNode({
    ...{ seed: 1, scheduler, cluster: server, sources: {} },
    tell: (event) => {
      if (event.kind === 'call' && event.call === 'CreateContainer')
        requests.push(event.request as CreateContainerRequest);
    },
  });
  server.do({ method: 'POST', path: `${NAMESPACE}/secrets`, body: { metadata: { name: 's' }, data: { K: DATA } } });
  const env = [{ name: 'ONE', valueFrom: { secretKeyRef: { name: 's', key: 'K' } } }];
  const containers = [{ name: 'main', image: 'registry.test/web:1', env, envFrom: [{ secretRef: { name: 's' } }] }];
  const spec = { nodeName: 'node-1', containers };
  server.do({ method: 'POST', path: `${NAMESPACE}/pods`, body: { metadata: { name: 'web' }, spec } });
  node.start();
  scheduler.runUntil(scheduler.now() + 30_000);
  node.dispose();

  expect(requests).toHaveLength(1);
  const envs = new Map(requests[0]!.config?.envs.map(({ key, value }) => [key, [...value]]));
  for (const name of ['K', 'ONE']) expect(envs.get(name)).toEqual([0xff, 0xfe, 0xfd]);
});
