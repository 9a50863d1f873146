import type { Subscription } from 'rxjs';
import { afterEach, expect, it } from 'vitest';
import { createMetrics } from '../../../src/server/metrics/metrics.js';
import { readOnlyServer } from '../../../src/server/read-only-server.js';

let running: Subscription | undefined;
afterEach(() => running?.unsubscribe());

const { registry, probeRegistry, countRequests } = createMetrics({ nodeName: 'n1', version: '0.1.0' });
const serve = (): Promise<string> =>
  new Promise((resolve, reject) => {
    running = readOnlyServer({
      address: '127.0.0.1',
      port: 0,
      healthChecks: { syncloop: () => new Error('late') },
      pods: () => [],
      metrics: registry,
      probeMetrics: probeRegistry,
      countRequests,
    }).subscribe((event) => (event.kind === 'listening' ? resolve(event.at) : reject(new Error(event.problem))));
  });

it('serves health, pods and metrics, and no endpoint for debugging', async () => {
  const url = await serve();
  const ask = async (path: string) => {
    const response = await fetch(`${url}${path}`);
    return [response.status, await response.text()] as const;
  };
  expect(await ask('/pods')).toEqual([200, '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}\n']);
  expect(await ask('/healthz/syncloop')).toEqual([500, 'internal server error: late\n']);
  expect(await ask('/healthz/ping')).toEqual([200, 'ok']);
  expect((await ask('/metrics/probes'))[1]).toContain('process_start_time_seconds');
  for (const path of [
    '/runningpods/',
    '/exec/a/b/c',
    '/run/a/b/c',
    '/containerLogs/a/b/c',
    '/logs/',
    '/debug/pprof/',
  ]) {
    expect(await ask(path)).toEqual([405, 'Debug endpoints are disabled.\n']);
  }
  expect((await ask('/configz'))[0]).toBe(404);
  expect((await ask('/metrics'))[1]).toContain(
    'kubelet_http_requests_total{method="GET",path="pods",server_type="readonly",long_running="false"} 1',
  );
});
