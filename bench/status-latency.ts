/**
 * The time from the start of a container to the write of its status, and the number of writes while a pod starts: the built agent with
 * the embedded runtime, and an API server that answers at once.
 *
 *   npm run build && npm run bench:status -- [--pods 50] [--every 200] [--agent bin/rx-kubelet]
 *
 * A pod is created every `--every` milliseconds; 0 creates all of them at once. The times are from the start of the container, in the
 * runtime, to the arrival of the request.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { firstValueFrom } from 'rxjs';
import { nodePath, podsPath, podStatusPath } from '../src/model/kube-api/api-paths.js';
import type { Node } from '../src/model/node/node.js';
import type { Pod } from '../src/model/pod/pod.js';
import { criClient } from '../src/runtime/cri-client.js';
import { killProcess } from '../test/support/kill-process.js';
import { type ApiStub, apiStub, type StubRequest } from './status/api-stub.js';

const NODE = 'bench';
const NAMESPACE = 'default';
const SETTLE_MS = 3_000;
const LONGEST_MS = 120_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      pods: { type: 'string', default: '50' },
      every: { type: 'string', default: '200' },
      agent: { type: 'string', default: 'bin/rx-kubelet' },
    },
  });
  const [count, everyMs] = [Number(values.pods), Number(values.every)];
  const folder = mkdtempSync(join(tmpdir(), 'rx-status-'));
  const stub = await apiStub();
  console.log(`load average before: ${loadavg()[0]?.toFixed(2)}`);
  const agent = await startAgent(stub, values.agent, folder);
  try {
    await pause(SETTLE_MS);
    const names = Array.from({ length: count }, (_, index) => `pod-${index}`);
    for (const name of names) {
      stub.create(podsPath(NAMESPACE), podOf(name));
      if (everyMs > 0) await pause(everyMs);
    }
    const shownAt = (name: string) => writesOf(stub, name).find(({ body }) => isRunning(body))?.at;
    await until('all pods are shown', () => names.every((name) => shownAt(name) !== undefined));
    await pause(SETTLE_MS);
    const starts = await containerStarts(folder);
    const latencies = names
      .map((name) => (shownAt(name) ?? NaN) - (starts.get(name) ?? NaN))
      .toSorted((one, other) => one - other);
    const at = (share: number): string => `${latencies[Math.floor((count - 1) * share)]?.toFixed(0)} ms`;
    const writes = names.map((name) => writesOf(stub, name).length);
    const reads = stub.requests.filter(({ method, path }) => method === 'GET' && path.includes('/pods/')).length;
    const perPod = (sum: number): string => (sum / count).toFixed(2);
    console.log(`${count} pods, ${everyMs > 0 ? `one every ${everyMs} ms` : 'all at once'}`);
    console.log(
      `  container started -> status asked for: median ${at(0.5)}, 95 % ${at(0.95)}, 99 % ${at(0.99)}, worst ${at(1)}`,
    );
    console.log(
      `  status writes per pod: ${perPod(writes.reduce((sum, one) => sum + one, 0))}, at most ${Math.max(...writes)}; reads ${perPod(reads)}`,
    );
  } finally {
    await agent.end();
    stub.close();
    rmSync(folder, { recursive: true, force: true });
    console.log(`load average after: ${loadavg()[0]?.toFixed(2)}`);
  }
}

const podOf = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    nodeName: NODE,
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'host', imagePullPolicy: 'IfNotPresent', command: ['sleep', '1000000'] }],
  },
  status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
});

const writesOf = (stub: ApiStub, name: string): readonly StubRequest[] =>
  stub.requests.filter(({ method, path }) => method === 'PATCH' && path === podStatusPath(NAMESPACE, name));

const isRunning = (body: unknown): boolean =>
  (body as Pod).status?.containerStatuses?.some(({ state }) => state?.running !== undefined) === true;

async function startAgent(stub: ApiStub, program: string, folder: string) {
  const root = join(folder, 'root');
  mkdirSync(root);
  const [config, kubeconfig] = [join(folder, 'config.json'), join(folder, 'kubeconfig')];
  const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
  writeFileSync(config, JSON.stringify({ ...kind, maxPods: 1_000 }));
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'stub', cluster: { server: stub.url } }],
      users: [{ name: 'node', user: {} }],
      contexts: [{ name: 'stub', context: { cluster: 'stub', user: 'node' } }],
      'current-context': 'stub',
    }),
  );
  const flags = ['--kubeconfig', kubeconfig, '--hostname-override', NODE, '--root-dir', root, '--config', config];
  const log = openSync(join(folder, 'agent.log'), 'a');
  const child = spawn(program, ['run', ...flags, '--healthz-port', '0', '--stop-pods-on-exit'], {
    stdio: ['ignore', 'ignore', log],
  });
  const gone = once(child, 'exit');
  process.on('exit', () => child.kill('SIGKILL'));
  await until('the node is ready', () => {
    if (child.exitCode !== null) throw new Error(`the agent has ended: see ${folder}/agent.log`);
    const node = stub.find(nodePath(NODE)) as Node | undefined;
    return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  });
  const end = async (): Promise<void> => {
    child.kill('SIGTERM');
    await gone;
    // The runtime outlives the agent.
    const runtime = JSON.parse(readFileSync(join(root, 'runtime', 'state', 'runtime.lock'), 'utf8')) as {
      readonly pid: number;
    };
    killProcess(runtime.pid, 'SIGTERM');
  };
  return { end };
}

/** The start of each container, in Unix milliseconds, by the name of its pod. */
async function containerStarts(folder: string): Promise<ReadonlyMap<string, number>> {
  const endpoint = `unix://${join(folder, 'root', 'runtime', 'runtime.sock')}`;
  const { runtime, close } = criClient({ endpoint, requestTimeoutMs: 20_000 });
  const { containers } = await firstValueFrom(runtime.listContainers({}));
  const starts = new Map<string, number>();
  for (const { id } of containers) {
    const { status } = await firstValueFrom(runtime.containerStatus({ containerId: id }));
    if (status) starts.set(status.labels['io.kubernetes.pod.name'] ?? '', Number(status.startedAt / 1_000n) / 1_000);
  }
  close();
  return starts;
}

async function until(what: string, look: () => boolean): Promise<void> {
  for (const deadline = performance.now() + LONGEST_MS; !look();) {
    if (performance.now() > deadline) throw new Error(`not within ${LONGEST_MS / 1_000} s: ${what}`);
    await pause(20);
  }
}

await main();
