/**
 * The time until the agent notices a death, and the costs of waiting for one: with events and rare relists (the feature gate
 * `EventedPLEG`), with events as hints, and without events.
 *
 *   npm run build && npm run bench:pleg -- [--deaths 50] [--pods 10,110,500] [--idle 60] [--newer CONTAINERD] [--older CONTAINERD]
 *
 * `--newer` is a containerd with container events (2.x), `--older` one without; an empty one is left out.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { firstValueFrom } from 'rxjs';
import { criClient } from '../src/runtime/cri-client.js';
import { killProcess } from '../test/support/kill-process.js';
import { serveFakeRuntime } from './pleg/serve-fake-runtime.js';
import { NODE_NAME, startAgent } from './startup/agent.js';
import { cpuSeconds } from './startup/proc.js';
import { type RecordedCall, recordingProxy } from './startup/recording-proxy.js';
import { bringUp, type Stage } from './startup/stage.js';

const PROGRAM = 'bin/rx-kubelet';
const SETTLE_MS = 5_000;
/** The compiler and the garbage collector of Node.js go on for a while after a burst. */
const REST_MS = 40_000;
const LOOK_EVERY_MS = 250;
const LONGEST_MS = 120_000;

const EVENTED = { featureGates: { EventedPLEG: true } };
const WITHOUT_CGROUPS = { cgroupsPerQOS: false, enforceNodeAllocatable: [] };

const [simulated] = process.argv.slice(2);
if (process.send && simulated !== undefined) {
  await serveFakeRuntime(simulated);
  process.send('ready');
  process.on('disconnect', () => process.exit(0));
} else await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      deaths: { type: 'string', default: '50' },
      pods: { type: 'string', default: '10,110,500' },
      idle: { type: 'string', default: '60' },
      newer: { type: 'string', default: process.env.NEWER_CONTAINERD ?? '' },
      older: { type: 'string', default: 'containerd' },
    },
  });
  const [deaths, idleSeconds] = [Number(values.deaths), Number(values.idle)];
  const folder = mkdtempSync(join(tmpdir(), 'rx-pleg-'));
  console.log(`load average before: ${loadavg()[0]?.toFixed(2)}`);
  try {
    if (deaths > 0) {
      console.log('| a container dies | event of the runtime | CreateContainer | StartContainer | container started |');
      console.log('| --- | --- | --- | --- | --- |');
      if (values.newer !== '') {
        await measureDeaths('events, EventedPLEG', values.newer, folder, deaths, EVENTED);
        await measureDeaths('events as hints', values.newer, folder, deaths, {});
      }
      if (values.older !== '') await measureDeaths('no events', values.older, folder, deaths, {});
      console.log(`load average: ${loadavg()[0]?.toFixed(2)}\n`);
    }
    if (idleSeconds > 0) {
      if (values.newer !== '') await measureIdleOverContainerd(values.newer, folder, 110, idleSeconds);
      await measureIdle(values.pods.split(',').map(Number), folder, idleSeconds);
      console.log(`load average after: ${loadavg()[0]?.toFixed(2)}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function over<T>(containerd: string, folder: string, use: (stage: Stage) => Promise<T>): Promise<T> {
  process.env.CONTAINERD = containerd;
  const stage = await bringUp(mkdtempSync(join(folder, 'stage-')));
  try {
    return await use(stage);
  } finally {
    await stage.down();
  }
}

/** Kills the container of each pod once: the first restart has no back-off. Times are from just before the signal. */
async function measureDeaths(
  name: string,
  containerd: string,
  folder: string,
  deaths: number,
  settings: object,
): Promise<void> {
  await over(containerd, folder, async (stage) => {
    const own = mkdtempSync(join(folder, 'deaths-'));
    const socket = join(own, 'cri.sock');
    const proxy = await recordingProxy(stage.endpoint, socket);
    const agent = startAgent(PROGRAM, own, { ...stage, endpoint: `unix://${socket}` }, settings);
    try {
      const pods = Array.from({ length: deaths }, (_, index) => `pod-${index}`);
      agent.place(pods);
      await stage.running(deaths);
      const processes = await stage.processes();
      await pause(SETTLE_MS);
      const killedAt = new Map<string, number>();
      const [notified, created, started]: [number[], number[], number[]] = [[], [], []];
      for (const [index, pod] of pods.map((one) => `${one}-${NODE_NAME}`).entries()) {
        // Each time at another offset to the ticks of the agent.
        await pause(500 + ((index * 137) % 1_000));
        const [seen, parts] = [proxy.calls.length, proxy.parts.length];
        const at = performance.timeOrigin + performance.now();
        killProcess(processes.get(pod));
        killedAt.set(pod, at);
        created.push((await called(proxy.calls, seen, 'CreateContainer')) - at);
        started.push((await called(proxy.calls, seen, 'StartContainer')) - at);
        notified.push((proxy.parts[parts] ?? NaN) - at);
      }
      await stage.running(deaths);
      const startTimes = await stage.startTimes();
      const runs = [...killedAt].map(([pod, at]) => (startTimes.get(pod) ?? NaN) - at);
      console.log(
        `| ${[`${name}, ${stage.runtime}`, ...[notified, created, started, runs].map(summary)].join(' | ')} |`,
      );
    } finally {
      await agent.kill();
      proxy.close();
      await stage.clear();
    }
  });
}

/** Returns the time of the first such call from the index `from` on, in Unix milliseconds. */
async function called(calls: readonly RecordedCall[], from: number, name: string): Promise<number> {
  for (const end = performance.now() + LONGEST_MS; performance.now() < end; await pause(5)) {
    const found = calls.slice(from).find(({ call }) => call === name);
    if (found) return found.at;
  }
  throw new Error(`no ${name} within ${LONGEST_MS} ms`);
}

async function measureIdleOverContainerd(
  containerd: string,
  folder: string,
  pods: number,
  idleSeconds: number,
): Promise<void> {
  for (const [name, settings] of [
    ['EventedPLEG', EVENTED],
    ['listings every second', {}],
  ] as const) {
    await over(containerd, folder, async (stage) => {
      const agent = startAgent(PROGRAM, mkdtempSync(join(folder, 'idle-')), stage, settings);
      try {
        agent.place(Array.from({ length: pods }, (_, index) => `pod-${index}`));
        await stage.running(pods);
        await pause(REST_MS);
        const [agentBefore, runtimeBefore] = [cpuSeconds(agent.pid), cpuSeconds(stage.pid)];
        await pause(idleSeconds * 1_000);
        const [ofAgent, ofRuntime] = [cpuSeconds(agent.pid) - agentBefore, cpuSeconds(stage.pid) - runtimeBefore];
        console.log(
          `idle with ${pods} pods over ${stage.runtime}, ${name}: agent ${share(ofAgent, idleSeconds)}, containerd ${share(ofRuntime, idleSeconds)}`,
        );
      } finally {
        await agent.kill();
        await stage.clear();
      }
    });
  }
}

/** Runs the agents side by side, each over a simulated runtime in another process: all of them are nearly idle. */
async function measureIdle(sizes: readonly number[], folder: string, idleSeconds: number): Promise<void> {
  const runs = sizes.flatMap((pods) => [
    { pods, name: 'EventedPLEG', settings: EVENTED },
    { pods, name: 'listings every second', settings: {} },
  ]);
  const children: ChildProcess[] = [];
  const sockets: string[] = [];
  const agents: { readonly pid: number; readonly kill: () => Promise<void> }[] = [];
  try {
    for (const { pods, settings } of runs) {
      const own = mkdtempSync(join(folder, 'idle-'));
      mkdirSync(join(own, 'runtime'));
      const socket = join(own, 'runtime', 'cri.sock');
      const child = fork(fileURLToPath(import.meta.url), [socket]);
      children.push(child);
      sockets.push(socket);
      await once(child, 'message');
      const agent = startAgent(
        PROGRAM,
        own,
        { endpoint: `unix://${socket}`, cgroupRoot: '/' },
        { ...settings, ...WITHOUT_CGROUPS },
      );
      agents.push(agent);
      agent.place(Array.from({ length: pods }, (_, index) => `pod-${index}`));
    }
    for (const [index, socket] of sockets.entries()) await allRun(socket, runs[index]?.pods ?? 0);
    await quiet(agents.map(({ pid }) => pid));
    await pause(REST_MS);
    const before = agents.map(({ pid }) => cpuSeconds(pid));
    await pause(idleSeconds * 1_000);
    for (const [index, { pods, name }] of runs.entries()) {
      const seconds = cpuSeconds(agents[index]?.pid ?? 0) - (before[index] ?? 0);
      console.log(`idle with ${pods} pods over a simulated runtime, ${name}: ${share(seconds, idleSeconds)}`);
    }
  } finally {
    await Promise.all(agents.map((agent) => agent.kill()));
    for (const child of children) child.disconnect();
  }
}

/** Resolves when `pods` containers run. */
async function allRun(socket: string, pods: number): Promise<void> {
  const { runtime, close } = criClient({ endpoint: `unix://${socket}` });
  const filter = { state: { state: 'CONTAINER_RUNNING' as const } };
  const count = async () => (await firstValueFrom(runtime.listContainers({ filter }))).containers.length;
  while ((await count()) < pods) await pause(LOOK_EVERY_MS);
  close();
}

/** Resolves when none of them has used more than a fifth of a core for five seconds. */
async function quiet(pids: readonly number[]): Promise<void> {
  for (;;) {
    const before = pids.map(cpuSeconds);
    await pause(SETTLE_MS);
    if (pids.every((pid, index) => cpuSeconds(pid) - (before[index] ?? 0) < SETTLE_MS / 5_000)) return;
    await pause(LOOK_EVERY_MS);
  }
}

function share(seconds: number, of: number): string {
  return `${((100 * seconds) / of).toFixed(2)} % of a core, ${((60 * seconds) / of).toFixed(2)} s a minute`;
}

function summary(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other);
  if (sorted.some(Number.isNaN)) return '';
  const at = (part: number) => (sorted[Math.ceil(part * sorted.length) - 1] ?? NaN).toFixed(0);
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`;
}
