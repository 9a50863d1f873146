import { Server, ServerCredentials } from '@grpc/grpc-js';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { HealthService } from '../../src/generated/grpc/health/v1/health.js';
import { selfSigned } from '../edges/network/local-servers.js';
import { healthServer, type HealthServer } from '../support/health-server.js';
import { type Daemon, it as itWithDaemon, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import type { ContainerOf } from './manifests.js';

const it = itWithDaemon.extend<{ readonly server: HealthServer }>({
  server: async ({}, use) => {
    const server = await healthServer();
    await use(server);
    server.close();
  },
});

/** As often as probes can be, and of one mind at once. */
const EAGER = { periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 60 };
const ALL_ASKED_MS = 240_000;
const SLOW_MACHINE_MS = 600_000;

const eventsOf = (daemon: Daemon, pod: string): readonly string[] =>
  daemon
    .journal()
    .flatMap((entry) =>
      entry.kind === 'event' && entry.pod?.name === `${pod}-${NODE_NAME}`
        ? [`${entry.type} ${entry.reason} ${entry.message}`]
        : [],
    );
const isReady = (daemon: Daemon, pod: string, ready: boolean): Promise<true> =>
  eventually(`${pod} is ${ready ? '' : 'not '}ready`, async () => {
    const shown = (await daemon.shownPods()).find(({ metadata }) => metadata.name === `${pod}-${NODE_NAME}`);
    const { conditions = [], containerStatuses: [first] = [] } = shown?.status ?? {};
    expect(conditions.find(({ type }) => type === 'Ready')?.status).toBe(ready ? 'True' : 'False');
    expect(first).toMatchObject({ ready, started: true });
    return true;
  });

describe.concurrent('a gRPC probe', () => {
  it('of readiness goes by what the server says of the service', async ({ daemon, server }) => {
    const readinessProbe = { ...EAGER, grpc: { port: server.ports.grpc, service: 'cart' } };
    server.sick.add('cart');
    daemon.apply({ name: 'cart', containers: [{ readinessProbe }] });
    await daemon.start();
    await daemon.reached('cart', 'CONTAINER_RUNNING');
    await isReady(daemon, 'cart', false);
    await eventually('it is reported', () =>
      eventsOf(daemon, 'cart').includes(
        'Warning Unhealthy Readiness probe failed: service unhealthy (responded with "NOT_SERVING")',
      ),
    );
    server.sick.delete('cart');
    await isReady(daemon, 'cart', true);
    server.sick.add('cart');
    await isReady(daemon, 'cart', false);
    expect(await daemon.containersOf('cart')).toMatchObject([{ attempt: 0 }]);
  });

  it('of liveness restarts a container that does not serve', async ({ daemon, server }) => {
    const livenessProbe = { ...EAGER, grpc: { port: server.ports.grpc, service: 'stock' } };
    daemon.apply({ name: 'stock', containers: [{ livenessProbe }] });
    await daemon.start();
    await daemon.reached('stock', 'CONTAINER_RUNNING');
    await eventually('it was asked', () => (server.asked.get('stock') ?? 0) > 0);
    server.sick.add('stock');
    // It does not run for long while the server is sick.
    await eventually('there is another one', async () => ((await daemon.containersOf('stock'))[0]?.attempt ?? 0) > 0);
    server.sick.delete('stock');
    await daemon.reached('stock', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(eventsOf(daemon, 'stock')).toContain(
      'Normal Killing Container main failed liveness probe, will be restarted',
    );
  });
});

/** The port of a gRPC server with TLS that is well, until the test is over. */
const grpcOverTls = (daemon: Daemon): Promise<number> => {
  const { key, cert } = selfSigned();
  const server = new Server();
  server.addService(HealthService, {
    check: (_: unknown, reply: (error: null, answer: { readonly status: string }) => void) =>
      reply(null, { status: 'SERVING' }),
  });
  daemon.beforeDispose(() => Promise.resolve(server.forceShutdown()));
  const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) };
  return new Promise((resolve, reject) =>
    server.bindAsync('0.0.0.0:0', ServerCredentials.createSsl(null, [pair]), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
};

/** The port of a server that speaks HTTP/2 without TLS, and nothing else. */
const onlyHttp2 = async (daemon: Daemon): Promise<number> => {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200 });
    stream.end();
  });
  server.on('sessionError', () => undefined);
  daemon.beforeDispose(() => Promise.resolve(server.close()));
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

describe('a probe with an alpha gate', () => {
  it('speaks TLS to gRPC, and HTTP/2 without TLS, as the manifest says', async ({ daemon }) => {
    const tls = { ...EAGER, grpc: { port: await grpcOverTls(daemon), mode: 'TLS' } };
    const h2c = { ...EAGER, httpGet: { port: await onlyHttp2(daemon), protocol: 'HTTP2' } };
    daemon.apply({ name: 'tls', containers: [{ readinessProbe: tls }] });
    daemon.apply({ name: 'h2c', containers: [{ readinessProbe: h2c }] });
    await daemon.start('--feature-gates', 'GRPCContainerProbeTLS=true,H2CContainerProbe=true');
    for (const pod of ['tls', 'h2c']) await isReady(daemon, pod, true);
  });
});

describe.concurrent('fifty containers of a pod', () => {
  it(
    'that are asked every second whether they are alive, and are, are left alone',
    async ({ daemon, server }) => {
      const { ports } = server;
      const names = Array.from({ length: 50 }, (_, index) => `c${index}`);
      const containers = names.map((name, index): ContainerOf => {
        const host = '127.0.0.1';
        const handler = [
          { httpGet: { host, port: ports.http, path: `/${name}` } },
          { tcpSocket: { host, port: ports.tcp } },
          { grpc: { port: ports.grpc, service: name } },
        ][index % 3];
        return { name, livenessProbe: { ...EAGER, ...handler } };
      });
      daemon.apply({ name: 'crowd', containers });
      await daemon.start();
      await eventually(
        'all run',
        async () =>
          (await daemon.containersOf('crowd')).filter(({ state }) => state === 'CONTAINER_RUNNING').length === 50,
        ALL_ASKED_MS,
      );
      const before = await daemon.containersOf('crowd');
      await eventually(
        'each was asked twenty times',
        () => {
          const named = names.filter((_, index) => index % 3 !== 1);
          const tcp = server.asked.get('tcp') ?? 0;
          return named.every((name) => (server.asked.get(name) ?? 0) >= 20) && tcp >= 20 * (50 - named.length);
        },
        ALL_ASKED_MS,
      );
      const byId = (containers: typeof before) => containers.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(byId(await daemon.containersOf('crowd'))).toEqual(byId(before));
      expect(eventsOf(daemon, 'crowd').filter((event) => /Unhealthy|Killing/.test(event))).toEqual([]);
    },
    SLOW_MACHINE_MS,
  );
});
