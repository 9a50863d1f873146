/**
 * The start of pods over a real containerd, compared with the least possible time: the same calls to the runtime from a bare driver
 * that does nothing else. Both take turns on one containerd of the benchmark.
 *
 *   npm run build && npm run bench:startup -- [--pods 30,110] [--rounds 3] [--idle 60] [--singles 20] [--agent bin/rx-kubelet] [--volumes]
 *
 * `CONTAINERD` names another containerd than that of the PATH. Several `--agent` compare builds. `--at-once 4,8,all` are the numbers of
 * pods that the bare driver starts at a time. `--volumes` starts the pods without volumes, and with three volumes each: a ConfigMap, a
 * Secret with facts of the pod, and an empty directory. The order of the two changes with each round. `--widths 4,8,16,all`
 * compares numbers of parallel starts: agents that are built for it from this checkout, and take the place of `--agent`.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mountedBelow } from '../test/support/mounted-below.js';
import { NODE_NAME, startAgent } from './startup/agent.js';
import { type DriverResult, type DriverRun, type PodRequests, serveRuns } from './startup/bare-driver.js';
import { cpuSeconds, machineCpuSeconds, peakResidentMiB, residentMiB } from './startup/proc.js';
import { recordingProxy } from './startup/recording-proxy.js';
import { bringUp, type Stage } from './startup/stage.js';

/** The number of levels that later rounds repeat: the best of the first round. */
const CANDIDATES = 2;
const SETTLE_MS = 2_000;
/** The compiler and the garbage collector of Node.js go on for a while after a burst. */
const REST_MS = 10_000;

interface Contender {
  readonly who: string;
  readonly program: string;
}
interface Burst {
  readonly wallMs: number;
  readonly containerdCpu: number;
  readonly machineCpu: number;
}
interface AgentBurst extends Burst {
  readonly cpu: number;
  readonly cpuAfter: number;
  readonly peakMiB: number;
  readonly restMiB: number;
}

const [driverEndpoint] = process.argv.slice(2);
if (process.send && driverEndpoint !== undefined) serveRuns(driverEndpoint);
else await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      pods: { type: 'string', default: '30,110' },
      rounds: { type: 'string', default: '3' },
      'at-once': { type: 'string', default: '1,2,4,8,16,all' },
      idle: { type: 'string', default: '60' },
      singles: { type: 'string', default: '20' },
      agent: { type: 'string', multiple: true, default: ['bin/rx-kubelet'] },
      volumes: { type: 'boolean', default: false },
      widths: { type: 'string' },
    },
  });
  const sizes = values.pods.split(',').map(Number);
  const atOnceLevels = values['at-once'].split(',').map((level) => (level === 'all' ? Infinity : Number(level)));
  const [rounds, idleSeconds, singles] = [values.rounds, values.idle, values.singles].map(Number) as [
    number,
    number,
    number,
  ];
  const folder = mkdtempSync(join(tmpdir(), 'rx-startup-'));
  const stage = await bringUp(join(folder, 'stage'));
  let driver: ChildProcess | undefined;
  const agents: readonly Contender[] = values.widths
    ? values.widths.split(',').map((width) => buildWithWidth(folder, width))
    : values.agent.map((program) => ({ who: program, program }));
  try {
    console.log(`${stage.runtime}; load average before: ${loadavg()[0]?.toFixed(2)}`);
    let requests: PodRequests | undefined;
    for (const { who, program } of agents) {
      const recorded = await recordPodStart(stage, program, folder);
      requests ??= recorded.requests;
      console.log(`calls for one pod, until its status is known, ${who}: ${recorded.counts}`);
    }
    if (!requests) throw new Error('--agent: expected a program');
    driver = fork(fileURLToPath(import.meta.url), [stage.endpoint]);

    for (const [index, pods] of sizes.entries()) {
      const floors = new Map<number, Burst[]>();
      const bursts = new Map<string, AgentBurst[]>();
      let levels: readonly number[] = atOnceLevels.filter((level) => level < pods || level === Infinity);
      let idle = '';
      for (let round = 0; round < rounds; round++) {
        for (const atOnce of levels) {
          const burst = await floorBurst(stage, driver, { pods, atOnce, requests });
          floors.set(atOnce, [...(floors.get(atOnce) ?? []), burst]);
        }
        const runs = agents.flatMap((agent) =>
          (values.volumes ? [false, true] : [false]).map((hasVolumes) => ({ ...agent, hasVolumes })),
        );
        // A machine that gets busier or calmer favours neither of two.
        for (const { who: agent, program, hasVolumes } of round % 2 === 0 ? runs : runs.toReversed()) {
          const isLast = index === sizes.length - 1 && round === rounds - 1;
          const { burst, idleShare } = await agentBurst(stage, program, folder, {
            ...{ pods, hasVolumes },
            idleSeconds: isLast ? idleSeconds : 0,
          });
          const who = hasVolumes ? `${agent}, with volumes` : agent;
          bursts.set(who, [...(bursts.get(who) ?? []), burst]);
          if (isLast && idleSeconds > 0) idle += `idle at ${pods} pods over ${idleSeconds} s, ${who}: ${idleShare}\n`;
        }
        const byTime = [...floors].toSorted(([, one], [, other]) => wallMs(one) - wallMs(other));
        levels = byTime.slice(0, CANDIDATES).map(([level]) => level);
      }
      tell(pods, floors, bursts);
      if (idle !== '') console.log(idle);
    }
    for (const { who, program } of singles > 0 ? agents : []) {
      console.log(`one manifest at a time, ${who}: ${await oneByOne(stage, program, folder, singles)}`);
    }
    if (singles > 0) {
      const { podMs } = await drive(driver, { pods: singles, atOnce: 1, requests });
      console.log(`one pod at a time, bare calls: ${summary(podMs)}`);
    }
    console.log(`load average after: ${loadavg()[0]?.toFixed(2)}`);
  } finally {
    driver?.disconnect();
    await stage.down();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An agent in a folder of its own, with this number of parallel starts: `8`, or `all`. */
function buildWithWidth(folder: string, width: string): Contender {
  const own = join(folder, `width-${width}`);
  const script = fileURLToPath(new URL('startup/build-with-width.mjs', import.meta.url));
  execFileSync(process.execPath, [script, own, width], { stdio: ['ignore', 'inherit', 'inherit'] });
  return { who: `width ${width}`, program: join(own, 'bin/rx-kubelet') };
}

/** The requests of the agent that start one pod, recorded by a proxy before the runtime. */
async function recordPodStart(
  stage: Stage,
  program: string,
  folder: string,
): Promise<{ readonly requests: PodRequests; readonly counts: string }> {
  // Not removed: the bare calls mount its files.
  const own = mkdtempSync(join(folder, 'recorded-'));
  const socket = join(own, 'cri.sock');
  const proxy = await recordingProxy(stage.endpoint, socket);
  const agent = startAgent(program, own, { ...stage, endpoint: `unix://${socket}` });
  try {
    await pause(SETTLE_MS);
    const before = proxy.calls.length;
    agent.place(['recorded']);
    await stage.running(1);
    await pause(SETTLE_MS);
    // Relists and housekeeping are not counted.
    const calls = proxy.calls
      .slice(before)
      .filter(({ call, request }) =>
        call.startsWith('List') ? request.includes('io.kubernetes.pod.') : call !== 'Status',
      );
    const numbers = new Map<string, typeof calls>();
    for (const one of calls) numbers.set(one.call, [...(numbers.get(one.call) ?? []), one]);
    const requestOf = (name: string): string => {
      const [found] = numbers.get(name) ?? [];
      if (!found) throw new Error(`the agent has not called ${name}`);
      return found.request.toString('base64');
    };
    return {
      requests: {
        imageStatus: requestOf('ImageStatus'),
        runPodSandbox: requestOf('RunPodSandbox'),
        createContainer: requestOf('CreateContainer'),
      },
      counts: [...numbers].map(([call, { length }]) => `${call} ${length}`).join(', '),
    };
  } finally {
    await agent.kill();
    proxy.close();
    await stage.clear();
  }
}

async function drive(driver: ChildProcess, run: DriverRun): Promise<DriverResult> {
  const answer = once(driver, 'message');
  driver.send({ ...run, atOnce: Math.min(run.atOnce, run.pods) });
  return ((await answer) as [DriverResult])[0];
}

/** The time from the first call until the last container runs, in the runtime. */
async function floorBurst(stage: Stage, driver: ChildProcess, run: DriverRun): Promise<Burst> {
  await drive(driver, { ...run, pods: 1 });
  await pause(SETTLE_MS);
  const [containerd, machine] = [cpuSeconds(stage.pid), machineCpuSeconds()];
  const running = stage.running(run.pods + 1);
  const { startedAt } = await drive(driver, run);
  await running;
  const [containerdCpu, machineCpu] = [cpuSeconds(stage.pid) - containerd, machineCpuSeconds() - machine];
  const last = Math.max(...(await stage.startTimes()).values());
  await stage.clear();
  await pause(SETTLE_MS);
  return { wallMs: last - startedAt, containerdCpu, machineCpu };
}

/** The time from the first manifest until the last container runs, in the runtime. */
async function agentBurst(
  stage: Stage,
  program: string,
  folder: string,
  {
    pods,
    hasVolumes,
    idleSeconds,
  }: { readonly pods: number; readonly hasVolumes: boolean; readonly idleSeconds: number },
): Promise<{ readonly burst: AgentBurst; readonly idleShare: string }> {
  const own = mkdtempSync(join(folder, 'agent-'));
  const agent = startAgent(program, own, stage);
  try {
    agent.place(['warm-up']);
    await stage.running(1);
    await pause(SETTLE_MS);
    const [containerd, machine, before] = [cpuSeconds(stage.pid), machineCpuSeconds(), cpuSeconds(agent.pid)];
    const names = Array.from({ length: pods }, (_, index) => `pod-${index}`);
    const startedAt = agent.place(names, hasVolumes ? 'with volumes' : undefined);
    await stage.running(pods + 1);
    const [containerdCpu, machineCpu] = [cpuSeconds(stage.pid) - containerd, machineCpuSeconds() - machine];
    const cpu = cpuSeconds(agent.pid) - before;
    const last = Math.max(...(await stage.startTimes()).values());
    await pause(REST_MS);
    const burst: AgentBurst = {
      wallMs: last - startedAt,
      containerdCpu,
      machineCpu,
      cpu,
      cpuAfter: cpuSeconds(agent.pid) - before,
      peakMiB: peakResidentMiB(agent.pid),
      restMiB: residentMiB(agent.pid),
    };
    const [agentIdle, containerdIdle] = [cpuSeconds(agent.pid), cpuSeconds(stage.pid)];
    await pause(idleSeconds * 1_000);
    const share = (seconds: number) => `${((100 * seconds) / idleSeconds).toFixed(2)} %`;
    const idleShare = `agent ${share(cpuSeconds(agent.pid) - agentIdle)} of a core, containerd ${share(cpuSeconds(stage.pid) - containerdIdle)}, agent resident ${residentMiB(agent.pid).toFixed(0)} MiB`;
    return { burst, idleShare };
  } finally {
    await agent.kill();
    await stage.clear();
    // The killed agent has left its volumes in memory.
    for (const path of mountedBelow(own)) execFileSync('umount', [path]);
    rmSync(own, { recursive: true, force: true });
    await pause(SETTLE_MS);
  }
}

/** The times from each manifest until its container runs; earlier containers stay. */
async function oneByOne(stage: Stage, program: string, folder: string, singles: number): Promise<string> {
  const own = mkdtempSync(join(folder, 'agent-'));
  const agent = startAgent(program, own, stage);
  try {
    agent.place(['warm-up']);
    await stage.running(1);
    const placed = new Map<string, number>();
    for (let index = 0; index < singles; index++) {
      // Each time at another offset to the ticks of the agent.
      await pause(1_000 + 37 * index);
      const name = `single-${index}`;
      placed.set(`${name}-${NODE_NAME}`, agent.place([name]));
      await stage.running(index + 2);
    }
    const started = await stage.startTimes();
    return summary([...placed].map(([name, at]) => (started.get(name) ?? NaN) - at));
  } finally {
    await agent.kill();
    await stage.clear();
    rmSync(own, { recursive: true, force: true });
  }
}

function tell(pods: number, floors: ReadonlyMap<number, Burst[]>, agents: ReadonlyMap<string, AgentBurst[]>): void {
  const [best] = [...floors].toSorted(([, one], [, other]) => wallMs(one) - wallMs(other));
  const floorMs = best ? wallMs(best[1]) : NaN;
  console.log(`\n${pods} pods at once; medians, seconds unless it says otherwise`);
  console.log(
    '| who | wall | of the floor | all walls | containerd CPU | machine CPU | agent CPU | and 10 s on | peak MiB | then |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |');
  const common = (bursts: readonly Burst[]) => [
    (wallMs(bursts) / 1_000).toFixed(2),
    (wallMs(bursts) / floorMs).toFixed(2),
    bursts.map((burst) => (burst.wallMs / 1_000).toFixed(2)).join(' '),
    median(bursts.map(({ containerdCpu }) => containerdCpu)).toFixed(2),
    median(bursts.map(({ machineCpu }) => machineCpu)).toFixed(2),
  ];
  for (const [atOnce, bursts] of floors) {
    const who = `bare calls, ${Number.isFinite(atOnce) ? `${atOnce} pods at a time` : 'all pods at once'}`;
    console.log(`| ${[who, ...common(bursts), '', '', '', ''].join(' | ')} |`);
  }
  for (const [program, bursts] of agents) {
    const own = [
      median(bursts.map(({ cpu }) => cpu)).toFixed(2),
      median(bursts.map(({ cpuAfter }) => cpuAfter)).toFixed(2),
      Math.max(...bursts.map(({ peakMiB }) => peakMiB)).toFixed(0),
      median(bursts.map(({ restMiB }) => restMiB)).toFixed(0),
    ];
    console.log(`| ${[program, ...common(bursts), ...own].join(' | ')} |`);
  }
}

function wallMs(bursts: readonly Burst[]): number {
  return median(bursts.map((burst) => burst.wallMs));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

function summary(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other);
  const p99 = sorted[Math.ceil(0.99 * sorted.length) - 1] ?? NaN;
  return `median ${median(values).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms over ${values.length}`;
}
