import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import type { Subscription } from 'rxjs';
import { afterEach, expect, it } from 'vitest';
import { createMetrics } from '../../../src/server/metrics/metrics.js';
import { readOnlyServer } from '../../../src/server/read-only-server.js';

let running: Subscription | undefined;
afterEach(() => running?.unsubscribe());

const { registry, probeRegistry, countRequests } = createMetrics({ nodeName: 'n1', version: '0.1.0' });
const serve = (address = '127.0.0.1'): Promise<string> =>
  new Promise((resolve, reject) => {
    running = readOnlyServer({
      address,
      port: 0,
      healthChecks: { syncloop: () => new Error('late') },
      pods: () => [],
      metrics: registry,
      probeMetrics: probeRegistry,
      countRequests,
      names: ['n1', '10.1.2.3'],
    }).subscribe((event) => (event.kind === 'listening' ? resolve(event.at) : reject(new Error(event.problem))));
  });

it('serves health, pods and metrics, and no endpoint for debugging', async () => {
  const url = await serve();
  const read = async (path: string) => {
    const response = await fetch(`${url}${path}`);
    return [response.status, await response.text()] as const;
  };
  expect(await read('/pods')).toEqual([200, '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}\n']);
  expect(await read('/healthz/syncloop')).toEqual([500, 'internal server error: late\n']);
  expect(await read('/healthz/ping')).toEqual([200, 'ok']);
  expect((await read('/metrics/probes'))[1]).toContain('process_start_time_seconds');
  for (const path of [
    '/runningpods/',
    '/exec/a/b/c',
    '/run/a/b/c',
    '/containerLogs/a/b/c',
    '/logs/',
    '/debug/pprof/',
  ]) {
    expect(await read(path)).toEqual([405, 'Debug endpoints are disabled.\n']);
  }
  expect((await read('/configz'))[0]).toBe(404);
  expect((await read('/metrics'))[1]).toContain(
    'kubelet_http_requests_total{method="GET",path="pods",server_type="readonly",long_running="false"} 1',
  );
});

/** The status of a request under the name of a host. */
const ask = (url: string, host: string, path = '/pods'): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path, headers: { host }, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });

it.each([
  ['localhost', 200],
  ['127.0.0.1:10255', 200],
  ['N1.:10255', 200],
  ['10.1.2.3', 200],
  ['evil.example.com', 403],
  ['evil.example.com:10255', 403],
])('over loopback, a request for %s has the reply %i', async (host, status) => {
  const url = await serve();
  expect(await ask(url, host)).toBe(status);
  expect(await ask(url, host, '/metrics')).toBe(status);
  expect(await ask(url, 'localhost', `http://${host}/pods`)).toBe(status);
});

// This machine may have no other address than loopback.
const [elsewhere] = Object.values(networkInterfaces()).flatMap((all = []) =>
  all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
);
it.each(elsewhere === undefined ? [] : [elsewhere])(
  'at %s, where others may know the node by any name, each host has a reply',
  async (address) => {
    const url = (await serve('0.0.0.0')).replace('0.0.0.0', address);
    expect(await ask(url, 'alias-of-the-node.example.com')).toBe(200);
  },
);
