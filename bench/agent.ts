/**
 * The costs of the agent over the embedded runtime, measured from outside: the time from a new manifest to its process, 100 pods at
 * once, memory and idle CPU.
 *
 *   npm run build && npx tsx bench/agent.ts [pods] [idle seconds]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { killProcess } from '../test/support/kill-process.js';

const [pods = 100, idleSeconds = 40] = process.argv.slice(2).map(Number);
const SINGLES = 50;
const CLOCK_TICK_MS = 10;

const root = mkdtempSync(join(tmpdir(), 'rx-kubelet-bench-'));
const [manifests, marks, state] = ['manifests', 'marks', 'state'].map((name) => join(root, name)) as [
  string,
  string,
  string,
];
for (const path of [manifests, marks, state]) mkdirSync(path);

/** A pod whose process writes the time at which it runs. */
const manifest = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [
        { name: 'main', image: 'host', command: ['sh', '-c', `date +%s%N > ${marks}/${name}; exec sleep 100000`] },
      ],
    },
  });

/** Writes a manifest atomically, and returns the time, in Unix milliseconds. */
const place = (name: string): number => {
  writeFileSync(join(root, name), manifest(name));
  const at = performance.timeOrigin + performance.now();
  renameSync(join(root, name), join(manifests, `${name}.json`));
  return at;
};

const until = async (condition: () => boolean, what: string): Promise<void> => {
  const deadline = Date.now() + 120_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`${what}: did not happen within 2 minutes`);
    await pause(2);
  }
};
const startedAt = (name: string): number | undefined => {
  const path = join(marks, name);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text.endsWith('\n') ? Number(BigInt(text.trim()) / 1_000n) / 1_000 : undefined;
};

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? NaN;
const summary = (values: readonly number[]): string => {
  const sorted = values.toSorted((one, other) => one - other);
  const [median, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
  return `median ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, worst ${(sorted.at(-1) ?? NaN).toFixed(0)} ms`;
};

const cpuMs = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
};
const residentMiB = (pid: number): string =>
  (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024).toFixed(0);
const pidServing = (socket: string): number =>
  Number(
    readdirSync('/proc').find((pid) => {
      if (!/^\d+$/.test(pid) || Number(pid) === agent.pid) return false;
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(socket);
      } catch {
        return false;
      }
    }),
  );
const print = (what: string, figure: string): void => console.log(`${what.padEnd(46)} ${figure}`);

const flags = ['--pod-manifest-path', manifests, '--root-dir', state, '--healthz-port', '0', '--stop-pods-on-exit'];
const agent: ChildProcess = spawn('bin/rx-kubelet', ['run', ...flags], { stdio: ['ignore', 'ignore', 'ignore'] });
try {
  const socket = join(state, 'runtime', 'runtime.sock');
  await until(() => existsSync(socket), 'the embedded runtime serves');
  place('warm-up');
  await until(() => startedAt('warm-up') !== undefined, 'the first pod runs');
  const [agentPid, runtimePid] = [agent.pid!, pidServing(socket)];

  const latencies: number[] = [];
  for (let index = 0; index < SINGLES; index++) {
    const placedAt = place(`single-${index}`);
    await until(() => startedAt(`single-${index}`) !== undefined, `pod single-${index} runs`);
    latencies.push(startedAt(`single-${index}`)! - placedAt);
    rmSync(join(manifests, `single-${index}.json`));
    await pause(200);
  }
  print(`new manifest to running process, ${SINGLES} in turn`, summary(latencies));

  await pause(5_000);
  const [agentBefore, runtimeBefore] = [cpuMs(agentPid), cpuMs(runtimePid)];
  const names = Array.from({ length: pods }, (_, index) => `pod-${index}`);
  const placed = new Map(names.map((name) => [name, place(name)] as const));
  await until(() => names.every((name) => startedAt(name) !== undefined), `${pods} pods run`);
  const first = Math.min(...placed.values());
  print(
    `${pods} pods at once, until the last one runs`,
    `${(Math.max(...names.map((name) => startedAt(name)!)) - first).toFixed(0)} ms`,
  );
  // The compiler and the garbage collector of Node.js go on for a while after a burst.
  await pause(40_000);
  print(
    'CPU for it, agent / embedded runtime',
    `${cpuMs(agentPid) - agentBefore} ms / ${cpuMs(runtimePid) - runtimeBefore} ms`,
  );
  print(
    `resident at ${pods} pods, agent / embedded runtime`,
    `${residentMiB(agentPid)} MiB / ${residentMiB(runtimePid)} MiB`,
  );

  const [agentIdle, runtimeIdle] = [cpuMs(agentPid), cpuMs(runtimePid)];
  await pause(idleSeconds * 1_000);
  const share = (ms: number) => `${(ms / (idleSeconds * 10)).toFixed(2)} %`;
  print(
    `idle CPU at ${pods} pods over ${idleSeconds} s, of one core`,
    `${share(cpuMs(agentPid) - agentIdle)} / ${share(cpuMs(runtimePid) - runtimeIdle)}`,
  );
  const ended = new Promise((resolve) => agent.once('exit', resolve));
  agent.kill('SIGTERM');
  await ended;
  killProcess(runtimePid, 'SIGTERM');
} finally {
  agent.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
}
