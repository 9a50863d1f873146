import { Server, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, of } from 'rxjs';
import { afterEach, expect, it } from 'vitest';
import {
  ListMetricDescriptorsResponse,
  ListPodSandboxMetricsResponse,
  RuntimeServiceService,
} from '../../src/generated/runtime/v1/api.js';
import { familyText } from '../../src/model/stats/exposition.js';
import { criClient } from '../../src/runtime/cri-client.js';
import { runtimeSample } from '../../src/streams/stats/runtime-sample.js';
import { statsMachine } from '../support/stats-parts.js';

type Handlers = Parameters<Server['addService']>[1];
type Reply = (error: null, value: object) => void;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** The text of the metrics of a runtime with these calls; undefined if it has none. */
const metricsOf = async (handlers: Handlers): Promise<string | undefined> => {
  const directory = mkdtempSync(join(tmpdir(), 'cri-metrics-'));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  const address = `unix://${join(directory, 'runtime.sock')}`;
  const server = new Server();
  server.addService(RuntimeServiceService, handlers);
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve())),
  );
  cleanups.push(() => server.forceShutdown());
  const client = criClient({ endpoint: address });
  cleanups.push(client.close);
  const reader = { machine: () => of(statsMachine()) };
  const log = { warn: () => undefined };
  const sample = await firstValueFrom(runtimeSample({ stats: () => client.stats, reader, facts$: of(undefined), log }));
  return sample && [...sample.families.map(familyText), ...sample.problems].join('');
};

const answer = (value: object) => (_: ServerUnaryCall<unknown, unknown>, reply: Reply) => reply(null, value);

it('reads the metrics of a runtime over the wire', async () => {
  const value = { value: 18_014_398_509_481_984n };
  const metric = { name: 'container_x_bytes', metricType: 'GAUGE' as const, labelValues: ['main'], value };
  const handlers = {
    listMetricDescriptors: answer(
      ListMetricDescriptorsResponse.fromPartial({
        descriptors: [{ name: 'container_x_bytes', help: 'X.', labelKeys: ['container'] }],
      }),
    ),
    listPodSandboxMetrics: answer(
      ListPodSandboxMetricsResponse.fromPartial({
        podMetrics: [
          {
            podSandboxId: 's',
            containerMetrics: [{ containerId: 'c', metrics: [{ ...metric, timestamp: 1_700_000_000_000_000_000n }] }],
          },
        ],
      }),
    ),
  };
  expect(await metricsOf(handlers)).toBe(
    '# HELP container_x_bytes X.\n# TYPE container_x_bytes gauge\ncontainer_x_bytes{container="main"} 18014398509481984 1700000000000\n',
  );
});

it('finds none in a runtime that does not implement the calls', async () => {
  expect(await metricsOf({})).toBeUndefined();
});
