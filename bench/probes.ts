/**
 * The costs of probes, and the accuracy of their times: pods with one readiness probe each over the embedded runtime, one kind of probe
 * after the other. The CPU times of the agent and of the runtime are those in excess of the same pods without probes; the times of
 * probes are those that the servers record.
 *
 *   npm run build && npm run bench:probes -- [pods] [seconds] [period in seconds]
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { killProcess } from '../test/support/kill-process.js';
import { runtimePid } from './embedded-agent.js';
import type { Arrivals, Ports } from './probes/far-side.js';
import { cpuSeconds } from './startup/proc.js';

const [pods = 110, seconds = 60, periodSeconds = 1] = process.argv.slice(2).map(Number);
/** The compiler and the garbage collector of Node.js go on for a while after a burst. */
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

const askAgent = (state: string, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ socketPath: join(state, 'agent', 'agent.sock'), path }, (response) => {
      text(response).then(resolve, reject);
    })
      .on('error', reject)
      .end();
  });

const readyPods = async (state: string): Promise<number> => {
  try {
    const { items } = JSON.parse(await askAgent(state, '/pods')) as {
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

/** The seconds of CPU during the measurement, and the probes that the servers recorded. */
const measure = async (kind: Kind, ports: Ports, farSide: ChildProcess): Promise<Cost> => {
  const root = mkdtempSync(join(tmpdir(), 'rx-kubelet-bench-'));
  const [manifests, state] = [join(root, 'manifests'), join(root, 'state')];
  for (const path of [manifests, state]) mkdirSync(path);
  for (let index = 0; index < pods; index++) {
    writeFileSync(join(manifests, `pod-${index}.json`), manifest(kind, index, ports));
  }
  const flags = ['--pod-manifest-path', manifests, '--root-dir', state, '--healthz-port', '0'];
  const agent = spawn('bin/rx-kubelet', ['run', ...flags, '--stop-pods-on-exit'], { stdio: 'ignore' });
  const ended = once(agent, 'exit');
  try {
    const deadline = performance.now() + 180_000;
    while ((await readyPods(state)) < pods) {
      if (performance.now() > deadline) throw new Error(`${pods} pods with ${kind}: not ready within 3 minutes`);
      await pause(500);
    }
    const pid = runtimePid(state);
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
    killProcess(runtimePid(state), 'SIGTERM');
    rmSync(root, { recursive: true, force: true });
  }
};

/** Returns the probes since the last call. */
const arrivalsAt = async (farSide: ChildProcess): Promise<Arrivals> => {
  const answer = once(farSide, 'message') as Promise<[Arrivals]>;
  farSide.send('arrivals');
  return (await answer)[0];
};

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? NaN;

/** The differences between the intervals of probes of a pod and the period, in milliseconds. */
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
    // No server records a command.
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
