import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Registry } from 'prom-client';
import { firstValueFrom, Subject, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod/pod.js';
import { agentServer, type AgentServerOptions } from '../../../src/server/agent-server.js';
import { createMetrics } from '../../../src/server/metrics/metrics.js';
import { aProbeWorker } from '../../support/a-probe.js';

const web: Pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: { containers: [{ name: 'app', image: 'i' }] },
  status: { phase: 'Running' },
};

let directory = '';
let socketPath = '';
let running: Subscription | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'agent-server-'));
  socketPath = join(directory, 'agent', 'agent.sock');
});
afterEach(() => {
  running?.unsubscribe();
  rmSync(directory, { recursive: true, force: true });
});

const serve = (options: Partial<AgentServerOptions> = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    running = agentServer({ socketPath, pods: () => [web], metrics: new Registry(), ...options }).subscribe((event) =>
      event.kind === 'listening' ? resolve(event.at) : reject(new Error(event.problem)),
    );
  });

const get = (path: string, method = 'GET') =>
  new Promise<{ status: number | undefined; type: string | undefined; allow: string | undefined; body: string }>(
    (resolve, reject) => {
      request({ socketPath, path, method }, (response) => {
        const { statusCode: status, headers } = response;
        const told = { status, type: headers['content-type'], allow: headers.allow };
        text(response).then((body) => resolve({ ...told, body }), reject);
      })
        .on('error', reject)
        .end();
    },
  );

describe('the socket', () => {
  it('is for the user of the agent alone, from its first moment', async () => {
    expect(await serve()).toBe(socketPath);
    expect(statSync(dirname(socketPath)).mode & 0o777).toBe(0o700);
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  });

  it('says what went wrong when its folder goes before it listens, and ends nothing else', async () => {
    const served = serve();
    rmSync(dirname(socketPath), { recursive: true });
    await expect(served).rejects.toThrow(/ENOENT.*agent\.sock/);
  });

  it('takes the place of one that a killed agent has left, and goes with the server', async () => {
    await serve();
    running?.unsubscribe();
    expect(existsSync(socketPath)).toBe(false);
    writeFileSync(socketPath, '');
    await serve();
    expect((await get('/pods')).status).toBe(200);
  });
});

describe('/pods', () => {
  it('lists the pods as a v1 PodList', async () => {
    await serve();
    const { type, body } = await get('/pods');
    expect(type).toBe('application/json');
    expect(JSON.parse(body)).toEqual({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: [web] });
  });

  it('waits until the pods are known', async () => {
    const known$ = new Subject<string>();
    const pods: Pod[] = [];
    await serve({ pods: () => pods, known: () => firstValueFrom(known$) });
    const asked = get('/pods');
    expect((await get('/metrics')).status).toBe(200);
    pods.push(web);
    known$.next('now');
    expect(JSON.parse((await asked).body)).toMatchObject({ items: [{ metadata: web.metadata }] });
  });

  it('has null items when there are none', async () => {
    await serve({ pods: () => [] });
    const { body } = await get('/pods');
    expect(body).toBe('{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}\n');
  });
});

describe('anything else', () => {
  it('is not found, and a wrong method is not allowed', async () => {
    await serve();
    expect((await get('/nowhere')).status).toBe(404);
    expect(await get('/pods', 'DELETE')).toMatchObject({ status: 405, allow: 'GET, HEAD' });
    expect(await get('/pods', 'HEAD')).toMatchObject({ status: 200, body: '' });
  });
});

describe('/metrics/probes', () => {
  const worker = aProbeWorker('readiness');

  it("has the numbers of probes alone, with the kubelet's names and labels, until their worker ends", async () => {
    const { registry, probeRegistry, metrics } = createMetrics({ nodeName: 'n1', version: '0.1.0' });
    metrics.probe(worker, 'success', 0.2);
    metrics.probe(worker, 'success', 0.3);
    metrics.probe(worker, 'failure', 0.4);
    await serve({ metrics: registry, probeMetrics: probeRegistry });
    const who = 'container="main",pod="web",namespace="default"';
    const { body } = await get('/metrics/probes');
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
    expect((await get('/metrics')).body).not.toContain('prober_');

    metrics.probeWorkerEnded(worker);
    expect((await get('/metrics/probes')).body).not.toContain('main');
  });

  it('is absent where no source has any', async () => {
    await serve();
    expect((await get('/metrics/probes')).status).toBe(404);
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
    metrics.running(3, { created: 0, running: 4, exited: 1, unknown: 0 });
    const counts = { desired: { static: 2, other: 1 }, active: { static: 2, other: 0 } };
    metrics.pods({ ...counts, working: [{ lifecycle: 'sync', config: 'desired', static: 'true', count: 2 }] });
    metrics.pods({ ...counts, working: [{ lifecycle: 'terminating', config: 'orphan', static: 'true', count: 1 }] });
    metrics.orphanedRuntimePod();
    metrics.podRestarted(true);
    metrics.sleepCutShort();
    metrics.hookFellBackToHttp();
    metrics.hookFellBackToHttp();
    metrics.imagePulled(2, 1n);
    metrics.userNamespacedPodStarted(false);
    metrics.userNamespacedPodStarted(true);
    metrics.ephemeralContainers(7);
    metrics.runtimeLosesSupport('1.38.0');
    metrics.admissionRejected('OutOfcpu');

    await serve({ metrics: registry });
    const { type, body } = await get('/metrics');
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
      'kubelet_running_pods 3',
      'kubelet_running_containers{container_state="running"} 4',
      'kubelet_desired_pods{static="true"} 2',
      'kubelet_desired_pods{static=""} 1',
      'kubelet_active_pods{static="true"} 2',
      'kubelet_working_pods{lifecycle="sync",config="desired",static="true"} 0',
      'kubelet_working_pods{lifecycle="terminating",config="orphan",static="true"} 1',
      'kubelet_working_pods{lifecycle="terminated",config="runtime_only",static="unknown"} 0',
      'kubelet_orphaned_runtime_pods_total 1',
      'kubelet_restarted_pods_total{static="true"} 1',
      'kubelet_sleep_action_terminated_early_total 1',
      'kubelet_lifecycle_handler_http_fallbacks_total 2',
      'kubelet_image_pull_duration_seconds_count{image_size_in_bytes="0-10MB"} 1',
      'kubelet_restarted_pods_total{static=""} 0',
      'kubelet_started_user_namespaced_pods_total 2',
      'kubelet_started_user_namespaced_pods_errors_total 1',
      'kubelet_managed_ephemeral_containers 7',
      'kubelet_cri_losing_support{version="1.38.0"} 1',
      'kubelet_admission_rejections_total{reason="OutOfcpu"} 1',
    ]) {
      expect(lines).toContain(line);
    }
    expect(body).toMatch(/^kubernetes_build_info\{major="0",minor="1",git_version="v0\.1\.0",.*\} 1$/m);
    // As Go names it, not Node.
    expect(body).not.toMatch(/platform="linux\/x64"/);
    expect(body).toMatch(/platform="linux\/\w+"/);
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
