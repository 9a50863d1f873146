/**
 * What probes cost the agent, and how well it keeps their time: pods with one readiness probe each over the embedded runtime, one
 * kind of probe after the other. From the CPU time of the agent, and of the runtime, that of the same pods without probes is taken
 * away; when a pod was asked is what its server saw.
 *
 *   npm run build && npm run bench:probes -- [pods] [seconds] [period in seconds]
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Arrivals, Ports } from './probes/far-side.js';
import { cpuSeconds } from './startup/proc.js';

const [pods = 110, seconds = 60, periodSeconds = 1] = process.argv.slice(2).map(Number);
/** The compiler and the collector of Node.js have work left after a burst. */
const SETTLING_MS = 30_000;

const KINDS = ['none', 'httpGet', 'tcpSocket', 'grpc', 'exec'] as const;
type Kind = (typeof KINDS)[number];

const handlerOf = (kind: Kind, index: number, ports: Ports): object | undefined => {
  switch (kind) {
    case 'none':
      return undefined;
    case 'httpGet':
      return { httpGet: { host: '127.0.0.1', port: ports.http, path: `/${index}` } };
    case 'tcpSocket':
      return { tcpSocket: { host: '127.0.0.1', port: ports.tcp[index] } };
    case 'grpc':
      return { grpc: { port: ports.grpc, service: `${index}` } };
    case 'exec':
      return { exec: { command: ['true'] } };
  }
};

const manifest = (kind: Kind, index: number, ports: Ports): string => {
  const handler = handlerOf(kind, index, ports);
  const readinessProbe = handler && { periodSeconds, timeoutSeconds: 10, ...handler };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${index}` },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image: 'host', command: ['sleep', '100000'], readinessProbe }],
    },
  });
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
};

const readyPods = async (port: number): Promise<number> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/pods`);
    const { items } = (await response.json()) as {
      readonly items: readonly { status?: { conditions?: { type: string; status: string }[] } }[] | null;
    };
    return (items ?? []).filter(({ status }) =>
      status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
    ).length;
  } catch {
    return 0;
  }
};

interface Cost {
  readonly agent: number;
  readonly runtime: number;
  readonly arrivals: Arrivals;
}

/** Seconds of CPU in the time of the measurement, and what the servers saw meanwhile. */
const measure = async (kind: Kind, ports: Ports, farSide: ChildProcess): Promise<Cost> => {
  const root = mkdtempSync(join(tmpdir(), 'rx-kubelet-bench-'));
  const [manifests, state] = [join(root, 'manifests'), join(root, 'state')];
  for (const path of [manifests, state]) mkdirSync(path);
  for (let index = 0; index < pods; index++) {
    writeFileSync(join(manifests, `pod-${index}.json`), manifest(kind, index, ports));
  }
  const port = await freePort();
  const flags = ['--pod-manifest-path', manifests, '--root-dir', state, '--healthz-port', `${port}`];
  const agent = spawn('bin/rx-kubelet', ['run', ...flags, '--stop-pods-on-exit'], { stdio: 'ignore' });
  const ended = once(agent, 'exit');
  const runtimePid = (): number =>
    (JSON.parse(readFileSync(join(state, 'runtime', 'state', 'runtime.json'), 'utf8')) as { readonly pid: number }).pid;
  try {
    const deadline = performance.now() + 180_000;
    while ((await readyPods(port)) < pods) {
      if (performance.now() > deadline) throw new Error(`${pods} pods with ${kind}: not ready within 3 minutes`);
      await pause(500);
    }
    const pid = runtimePid();
    await pause(SETTLING_MS);
    await arrivalsAt(farSide);
    const before = { agent: cpuSeconds(agent.pid!), runtime: cpuSeconds(pid) };
    await pause(seconds * 1000);
    return {
      agent: cpuSeconds(agent.pid!) - before.agent,
      runtime: cpuSeconds(pid) - before.runtime,
      arrivals: await arrivalsAt(farSide),
    };
  } finally {
    agent.kill('SIGTERM');
    await ended;
    process.kill(runtimePid());
    rmSync(root, { recursive: true, force: true });
  }
};

/** What has arrived since the last time. */
const arrivalsAt = async (farSide: ChildProcess): Promise<Arrivals> => {
  const answer = once(farSide, 'message') as Promise<[Arrivals]>;
  farSide.send('arrivals');
  return (await answer)[0];
};

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? NaN;

/** How far the time between two probes of a pod was from the period, in milliseconds. */
const errorsOf = (arrivals: Arrivals): readonly number[] =>
  Object.values(arrivals)
    .flatMap((times) => times.slice(1).map((time, index) => Math.abs(time - times[index]! - periodSeconds * 1000)))
    .toSorted((one, other) => one - other);

const farSide = fork(fileURLToPath(new URL('probes/far-side.ts', import.meta.url)), [`${pods}`], {
  execArgv: ['--import', 'tsx'],
});
try {
  const [ports] = (await once(farSide, 'message')) as [Ports];
  console.log(`${pods} pods, one readiness probe each every ${periodSeconds} s, over ${seconds} s`);
  let idle: Cost | undefined;
  for (const kind of KINDS) {
    const cost = await measure(kind, ports, farSide);
    const share = (cpu: number) => `${((100 * cpu) / seconds).toFixed(1)} %`;
    const load = `load average ${loadavg()[0]?.toFixed(1)}`;
    const cpu = `agent ${share(cost.agent)}, runtime ${share(cost.runtime)} of a core`;
    if (!idle) {
      idle = cost;
      console.log(`${'no probes'.padEnd(10)} ${cpu}; ${load}`);
      continue;
    }
    const seen = Object.values(cost.arrivals).reduce((sum, times) => sum + times.length, 0);
    // Nobody sees a command but the runtime.
    const probes = kind === 'exec' ? (pods * seconds) / periodSeconds : seen;
    const each = (whole: number, without: number) => `${((1e6 * (whole - without)) / probes).toFixed(0)} µs`;
    const errors = errorsOf(cost.arrivals);
    const late =
      kind === 'exec'
        ? ''
        : `; ticks off by ${percentile(errors, 0.5).toFixed(1)} ms (median), ${percentile(errors, 0.99).toFixed(1)} ms (p99), ` +
          `${(errors.at(-1) ?? NaN).toFixed(1)} ms (worst)`;
    console.log(
      `${kind.padEnd(10)} ${cpu}; ${probes.toFixed(0)} probes: agent ${each(cost.agent, idle.agent)}, ` +
        `runtime ${each(cost.runtime, idle.runtime)} each${late}; ${load}`,
    );
  }
} finally {
  farSide.kill();
}
