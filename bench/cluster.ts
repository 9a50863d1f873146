/**
 * Pods that are created all at once through a real API server, on the embedded runtime: the time until the API shows all of them
 * running, the requests of the agent, and its CPU time.
 *
 *   npm run build && npm run bench:cluster -- [--pods 200] [--rounds 3] [--agent bin/rx-kubelet]
 *
 * The server is that of the tests (test/cluster/stage): `KUBE_APISERVER` names another one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { firstValueFrom } from 'rxjs';
import { nodePath, podPath, podsPath } from '../src/model/kube-api/api-paths.js';
import type { Pod } from '../src/model/pod/pod.js';
import { criClient } from '../src/runtime/cri-client.js';
import type { AuditEntry } from '../test/cluster/audit.js';
import { Cluster } from '../test/cluster/cluster.js';
import { now, startAgent, until } from './cluster/cluster-agent.js';
import { cpuSeconds, peakResidentMiB } from './startup/proc.js';

const NODE = 'bench';
const CREATED_AT_ONCE = 25;
/** The time for requests after all pods run: mostly events, which have a rate limit. */
const SETTLE_MS = 10_000;
const WRITES = new Set(['create', 'update', 'patch', 'delete']);

interface Round {
  /** The time from the first creation until the API server has all pods. */
  readonly createdMs: number;
  /** The time from the first creation until a watch shows all of them running and ready. */
  readonly runningMs: number;
  /** The times from the start of each container, in the runtime, until a watch shows its pod running. */
  readonly shownMs: readonly number[];
  readonly cpu: number;
  readonly cpuAfter: number;
  readonly peakMiB: number;
  readonly requests: ReadonlyMap<string, number>;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      pods: { type: 'string', default: '200' },
      rounds: { type: 'string', default: '3' },
      agent: { type: 'string', default: 'bin/rx-kubelet' },
    },
  });
  const [pods, rounds] = [Number(values.pods), Number(values.rounds)];
  console.log(`load average before: ${loadavg()[0]?.toFixed(2)}`);
  await Cluster.ofItsOwn(async (cluster) => {
    await cluster.namespace(NODE);
    for (let round = 1; round <= rounds; round++) tell(round, pods, await oneRound(cluster, values.agent, pods));
  });
  console.log(`load average after: ${loadavg()[0]?.toFixed(2)}`);
}

async function oneRound(cluster: Cluster, program: string, count: number): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), 'rx-cluster-'));
  const agent = await startAgent(cluster, NODE, program, folder);
  const names = Array.from({ length: count }, (_, index) => `pod-${index}`);
  const watched = await cluster.admin.watch<Pod>(podsPath(NODE));
  try {
    await pause(SETTLE_MS);
    const [cpuBefore, auditBefore, startedAt] = [cpuSeconds(agent.pid), cluster.audit().length, now()];
    const shownAt = new Map<string, number>();
    let read = 0;
    const look = (): void => {
      for (; read < watched.events.length; read++) {
        const pod = watched.events[read]?.object;
        if (pod && isRunning(pod) && !shownAt.has(pod.metadata.name)) shownAt.set(pod.metadata.name, now());
      }
    };
    const looking = setInterval(look, 1);
    await inParallel(names, (name) => cluster.admin.create(podsPath(NODE), podOf(name)));
    const createdMs = now() - startedAt;
    await until(`all pods run`, () => shownAt.size === count);
    clearInterval(looking);
    const runningMs = now() - startedAt;
    const cpu = cpuSeconds(agent.pid) - cpuBefore;
    await pause(SETTLE_MS);
    const requests = requestsOf(cluster.audit().slice(auditBefore));
    const startTimes = await containerStarts(folder);
    return {
      createdMs,
      runningMs,
      shownMs: [...shownAt].flatMap(([name, at]) => at - (startTimes.get(name) ?? NaN)).toSorted((a, b) => a - b),
      cpu,
      cpuAfter: cpuSeconds(agent.pid) - cpuBefore - cpu,
      peakMiB: peakResidentMiB(agent.pid),
      requests,
    };
  } finally {
    watched.close();
    await inParallel(names, (name) => cluster.admin.remove(podPath(NODE, name)).catch(() => undefined));
    await until('all pods are gone', async () => (await cluster.admin.list(podsPath(NODE))).length === 0);
    await agent.end();
    await cluster.admin.remove(nodePath(NODE));
    rmSync(folder, { recursive: true, force: true });
  }
}

const podOf = (name: string): object => ({
  metadata: { name },
  spec: {
    nodeName: NODE,
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'host', imagePullPolicy: 'IfNotPresent', command: ['sleep', '1000000'] }],
  },
});

const isRunning = ({ status }: Pod): boolean =>
  status?.phase === 'Running' &&
  status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

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

const requestsOf = (entries: readonly AuditEntry[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { verb, stage, objectRef, responseStatus } of entries) {
    if (stage === 'ResponseStarted') continue;
    const resource = [objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/');
    const failed = (responseStatus?.code ?? 0) >= 400 ? ` (${responseStatus?.code})` : '';
    const what = `${verb} ${resource}${failed}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts;
};

function tell(round: number, pods: number, { shownMs, requests, ...result }: Round): void {
  const at = (share: number): string => `${shownMs[Math.floor((shownMs.length - 1) * share)]?.toFixed(0)} ms`;
  const writes = [...requests].filter(([what]) => WRITES.has(what.split(' ')[0] ?? ''));
  const perPod = (count: number): string => (count / pods).toFixed(2);
  const sum = (counts: readonly (readonly [string, number])[]): number => counts.reduce((all, [, one]) => all + one, 0);
  console.log(`round ${round}, ${pods} pods: created in ${(result.createdMs / 1_000).toFixed(2)} s`);
  console.log(`  all shown as running after ${(result.runningMs / 1_000).toFixed(2)} s`);
  console.log(`  from a container's start until the API shows it: median ${at(0.5)}, 95 % ${at(0.95)}, worst ${at(1)}`);
  console.log(
    `  agent: ${result.cpu.toFixed(2)} s of CPU until then, ${result.cpuAfter.toFixed(2)} s in the ${SETTLE_MS / 1_000} s after it, ${result.peakMiB.toFixed(0)} MiB at most`,
  );
  console.log(
    `  requests per pod: ${perPod(sum([...requests]))}, of them writes ${perPod(sum(writes))}, without events ${perPod(sum(writes.filter(([what]) => !what.includes(' events'))))}`,
  );
  for (const [what, number] of [...requests].toSorted(([, one], [, other]) => other - one)) {
    console.log(`    ${what}: ${number}, per pod ${perPod(number)}`);
  }
}

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: CREATED_AT_ONCE }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
    }),
  );
}

await main();
