import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { filter, firstValueFrom, type Subscription } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod.js';
import type { HealthChecks } from '../../../src/server/health.js';
import { localServer, type LocalServerOptions } from '../../../src/server/local-server.js';
import { createMetrics } from '../../../src/server/metrics.js';
import { aProbeWorker } from '../../support/a-probe.js';

const web: Pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: { containers: [{ name: 'app', image: 'i' }] },
  status: { phase: 'Running' },
};

let running: Subscription | undefined;
afterEach(() => running?.unsubscribe());

const serve = (options: Partial<LocalServerOptions> = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    running = localServer({
      address: '127.0.0.1',
      port: 0,
      pods: () => [web],
      healthChecks: {},
      metrics: new Registry(),
      ...options,
    }).subscribe((event) => (event.kind === 'listening' ? resolve(event.url) : reject(new Error(event.problem))));
  });

const get = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, init);
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
};

describe('/healthz', () => {
  const sick: HealthChecks = { syncloop: () => new Error('sync Loop took longer than expected') };
  const text = 'text/plain; charset=utf-8';

  it.each<[string, HealthChecks, number, string]>([
    ['', {}, 200, 'ok'],
    ['/', {}, 200, 'ok'],
    ['/ping', sick, 200, 'ok'],
    ['/syncloop', { syncloop: () => undefined }, 200, 'ok'],
    ['/syncloop', sick, 500, 'internal server error: sync Loop took longer than expected\n'],
    ['', sick, 500, '[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n'],
    ['?verbose', { syncloop: () => undefined }, 200, '[+]ping ok\n[+]syncloop ok\nhealthz check passed\n'],
    ['?exclude=syncloop', sick, 200, 'ok'],
    [
      '?verbose&exclude=syncloop&exclude=nope',
      sick,
      200,
      '[+]ping ok\n[+]syncloop excluded: ok\nwarn: some health checks cannot be excluded: no matches for "nope"\nhealthz check passed\n',
    ],
    ['/nope', {}, 404, '404 page not found\n'],
  ])('%s with %o answers %i %j', async (path, healthChecks, status, body) => {
    const url = await serve({ healthChecks });
    expect(await get(`${url}/healthz${path}`)).toEqual({ status, type: text, body });
  });

  it('survives a check that throws', async () => {
    const url = await serve({
      healthChecks: {
        odd: () => {
          throw new Error('a bug');
        },
      },
    });
    expect((await get(`${url}/healthz`)).body).toBe('internal server error: a bug\n');
    expect((await get(`${url}/healthz/ping`)).status).toBe(200);
  });
});

describe('/pods', () => {
  it('lists the pods as a v1 PodList', async () => {
    const { type, body } = await get(`${await serve()}/pods`);
    expect(type).toBe('application/json');
    expect(JSON.parse(body)).toEqual({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: [web] });
  });

  it('has null items when there are none', async () => {
    const { body } = await get(`${await serve({ pods: () => [] })}/pods`);
    expect(body).toBe('{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}\n');
  });
});

describe('anything else', () => {
  it('is not found, and a wrong method is not allowed', async () => {
    const url = await serve();
    expect((await get(`${url}/nowhere`)).status).toBe(404);
    const wrong = await fetch(`${url}/pods`, { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await get(`${url}/pods`, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  });
});

describe('the server', () => {
  it('lets go of its port when it is unsubscribed', async () => {
    const url = await serve();
    running?.unsubscribe();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it('says that its port is taken', async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
    const { port } = squatter.address() as AddressInfo;
    const event$ = localServer({
      address: '127.0.0.1',
      port,
      pods: () => [],
      healthChecks: {},
      metrics: new Registry(),
    }).pipe(filter(({ kind }) => kind === 'failed'));
    expect(await firstValueFrom(event$)).toEqual({
      kind: 'failed',
      problem: `listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
      retryInMs: 5000,
    });
    squatter.close();
  });
});

describe('/metrics/probes', () => {
  const worker = aProbeWorker('readiness');

  it("has the numbers of probes alone, with the kubelet's names and labels, until their worker ends", async () => {
    const { registry, probeRegistry, metrics } = createMetrics({ nodeName: 'n1', version: '0.1.0' });
    metrics.probe(worker, 'success', 0.2);
    metrics.probe(worker, 'success', 0.3);
    metrics.probe(worker, 'failure', 0.4);
    const url = await serve({ metrics: registry, probeMetrics: probeRegistry });
    const who = 'container="main",pod="web",namespace="default"';
    const { body } = await get(`${url}/metrics/probes`);
    const lines = body.split('\n');
    for (const line of [
      `prober_probe_total{probe_type="Readiness",${who},result="successful",pod_uid="uid-1"} 2`,
      `prober_probe_total{probe_type="Readiness",${who},result="failed",pod_uid="uid-1"} 1`,
      `prober_probe_duration_seconds_bucket{le="0.25",probe_type="Readiness",${who}} 1`,
      `prober_probe_duration_seconds_count{probe_type="Readiness",${who}} 2`,
    ]) {
      expect(lines).toContain(line);
    }
    expect(lines.some((line) => line.startsWith('process_start_time_seconds '))).toBe(true);
    expect((await get(`${url}/metrics`)).body).not.toContain('prober_');

    metrics.probeWorkerEnded(worker);
    expect((await get(`${url}/metrics/probes`)).body).not.toContain('main');
  });

  it('is not there where nobody has any', async () => {
    expect((await get(`${await serve()}/metrics/probes`)).status).toBe(404);
  });
});

describe('/metrics', () => {
  it('has the names, labels and buckets of the kubelet', async () => {
    const { registry, metrics } = createMetrics({ nodeName: 'n1', version: '0.1.0' });
    metrics.runtimeOperation('create_container', 0.01, false);
    metrics.runtimeOperation('create_container', 0.1, true);
    metrics.runPodSandbox('', 0.3, true);
    metrics.podStarted(true);
    metrics.containerStarted('container', 'ErrImagePull');
    metrics.containerTerminated('container', 1, 'Error');
    metrics.podWorker('sync', 0.2);
    metrics.podWorkerStart(0.001);
    metrics.podStart(1.5);
    metrics.containersPerPod(2);
    metrics.relist({ seconds: 0.02, at: 1_000_000 });
    metrics.relist({ seconds: 0.02, intervalSeconds: 1, at: 1_001_000 });
    metrics.podRelist(0.003);
    metrics.plegDiscarded();
    metrics.running(3, { created: 0, running: 4, exited: 1, unknown: 0 });
    const counts = { desired: { static: 2, other: 1 }, active: { static: 2, other: 0 } };
    metrics.pods({ ...counts, working: [{ lifecycle: 'sync', config: 'desired', static: 'true', count: 2 }] });
    metrics.pods({ ...counts, working: [{ lifecycle: 'terminating', config: 'orphan', static: 'true', count: 1 }] });
    metrics.orphanedRuntimePod();
    metrics.podRestarted(true);

    const { type, body } = await get(`${await serve({ metrics: registry })}/metrics`);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    const lines = body.split('\n');
    for (const line of [
      'kubelet_node_name{node="n1"} 1',
      'kubelet_runtime_operations_total{operation_type="create_container"} 2',
      'kubelet_runtime_operations_errors_total{operation_type="create_container"} 1',
      'kubelet_runtime_operations_duration_seconds_bucket{le="0.0125",operation_type="create_container"} 1',
      'kubelet_run_podsandbox_errors_total{runtime_handler=""} 1',
      'kubelet_started_pods_total 1',
      'kubelet_started_pods_errors_total 1',
      'kubelet_started_containers_errors_total{container_type="container",code="ErrImagePull"} 1',
      'kubelet_terminated_containers_total{container_type="container",exit_code="1",reason="Error"} 1',
      'kubelet_pod_worker_duration_seconds_bucket{le="0.25",operation_type="sync"} 1',
      'kubelet_pod_worker_start_duration_seconds_count 1',
      'kubelet_pod_start_duration_seconds_bucket{le="2"} 1',
      'kubelet_containers_per_pod_count_bucket{le="2"} 1',
      'kubelet_pleg_relist_duration_seconds_count 2',
      'kubelet_pleg_relist_interval_seconds_count 1',
      'kubelet_pleg_pod_relist_duration_seconds_count 1',
      'kubelet_pleg_last_seen_seconds 1001',
      'kubelet_pleg_discard_events 1',
      'kubelet_running_pods 3',
      'kubelet_running_containers{container_state="running"} 4',
      'kubelet_desired_pods{static="true"} 2',
      'kubelet_desired_pods{static=""} 1',
      'kubelet_active_pods{static="true"} 2',
      'kubelet_working_pods{lifecycle="sync",config="desired",static="true"} 0',
      'kubelet_working_pods{lifecycle="terminating",config="orphan",static="true"} 1',
      'kubelet_orphaned_runtime_pods_total 1',
      'kubelet_restarted_pods_total{static="true"} 1',
    ]) {
      expect(lines).toContain(line);
    }
    expect(body).toMatch(/^kubernetes_build_info\{major="0",minor="1",git_version="v0\.1\.0",.*\} 1$/m);
  });

  it('counts what the process itself uses', async () => {
    const { registry } = createMetrics({ nodeName: 'n1', version: '0.1.0' });
    const value = async (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(await registry.metrics())?.[1]);
    expect(await value('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    const first = await value('process_cpu_seconds_total');
    expect(await value('process_cpu_seconds_total')).toBeGreaterThanOrEqual(first);
    const started = await value('process_start_time_seconds');
    expect(started).toBeGreaterThan(1e9);
    expect(started).toBeLessThanOrEqual(Date.now() / 1000 + 1);
  });
});
