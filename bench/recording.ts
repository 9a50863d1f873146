/**
 * The costs of recording: two agents with the same pods and the same churn side by side, each over a simulated runtime; one of them
 * records. Then the same with the roles exchanged, since two processes of a machine are never quite alike.
 *
 *   npm run build && npm run bench:recording -- [--pods 110] [--seconds 120] [--rounds 4] [--every 1000] [--program bin/rx-kubelet]
 *
 * `--every` is the time between two changes of a manifest, in milliseconds. `--keep FILE` keeps the recording of the last round.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { firstValueFrom } from 'rxjs';
import { criClient } from '../src/runtime/cri-client.js';
import { healthServer } from '../test/support/health-server.js';
import { serveFakeRuntime } from './pleg/serve-fake-runtime.js';
import { cpuSeconds, residentMiB } from './startup/proc.js';

/** The compiler and the garbage collector of Node.js go on for a while after a burst. */
const REST_MS = 20_000;
const LOOK_EVERY_MS = 250;
/** One pod in `FLAKY_EVERY` has a container that fails again and again. */
const FLAKY_EVERY = 10;
const BEHAVIOURS = { flaky: [{ exitsAfterMs: 5_000, exitCode: 1 }] };

const [simulated] = process.argv.slice(2);
if (process.send && simulated !== undefined) {
  await serveFakeRuntime(simulated, BEHAVIOURS);
  process.send('ready');
  process.on('disconnect', () => process.exit(0));
} else await main();

interface Party {
  readonly agent: ChildProcess;
  readonly runtime: ChildProcess;
  readonly socket: string;
  readonly folder: string;
  readonly recording?: string;
  cpuBefore: number;
  bytesBefore: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      pods: { type: 'string', default: '110' },
      seconds: { type: 'string', default: '120' },
      rounds: { type: 'string', default: '4' },
      every: { type: 'string', default: '1000' },
      program: { type: 'string', default: 'bin/rx-kubelet' },
      keep: { type: 'string', default: '' },
    },
  });
  const [pods, seconds, rounds, everyMs] = [values.pods, values.seconds, values.rounds, values.every].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const folder = mkdtempSync(join(tmpdir(), 'rx-recording-'));
  const server = await healthServer();
  console.log(
    `${pods} pods, each probed every 10 s in two ways, one in ${FLAKY_EVERY} crashing, one manifest changed every ${everyMs} ms; ${seconds} s a round`,
  );
  console.log(`load average before: ${loadavg()[0]?.toFixed(2)}`);
  console.log('| round | without | with | more | of the agent | resident, without / with | file |');
  console.log('| ----- | ------- | ---- | ---- | ------------ | ------------------------ | ---- |');
  const [plain, recorded]: [number[], number[]] = [[], []];
  try {
    for (let round = 1; round <= rounds; round++) {
      const own = mkdtempSync(join(folder, 'round-'));
      const order = round % 2 === 1 ? [false, true] : [true, false];
      const parties = await Promise.all(order.map((records) => start(values.program, own, records)));
      try {
        const place = (index: number, version: number): void =>
          parties.forEach((party) => placeManifest(party.folder, index, version, server.ports));
        for (let index = 0; index < pods; index++) place(index, 0);
        for (const { socket } of parties) await allRun(socket, pods);
        await pause(REST_MS);
        for (const party of parties) {
          party.cpuBefore = cpuSeconds(party.agent.pid ?? 0);
          party.bytesBefore = bytesOf(party);
        }
        const end = performance.now() + seconds * 1_000;
        for (let version = 1; performance.now() < end; version++) {
          place((version * 37) % pods, version);
          await pause(everyMs);
        }
        const used = parties.map((party) => cpuSeconds(party.agent.pid ?? 0) - party.cpuBefore);
        const [off, on] = parties[0]!.recording === undefined ? [0, 1] : [1, 0];
        const [without, withIt] = [used[off]!, used[on]!];
        plain.push(without);
        recorded.push(withIt);
        const memory = [off, on].map((index) => `${residentMiB(parties[index]!.agent.pid ?? 0).toFixed(0)} MiB`);
        const perHour = ((bytesOf(parties[on]!) - parties[on]!.bytesBefore) / 2 ** 20 / seconds) * 3_600;
        console.log(
          `| ${[round, ...shares(without, withIt, seconds), memory.join(' / '), `${perHour.toFixed(0)} MiB an hour`].join(' | ')} |`,
        );
      } finally {
        await Promise.all(parties.map(stop));
        const recording = parties.find((party) => party.recording !== undefined)?.recording;
        if (values.keep !== '' && recording !== undefined) copyFileSync(recording, values.keep);
      }
    }
    const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0);
    console.log(`| all | ${shares(sum(plain), sum(recorded), seconds * rounds).join(' | ')} | | |`);
    console.log(`load average after: ${loadavg()[0]?.toFixed(2)}`);
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The shares of a core without and with recording, the difference, and the difference as a part of the former. */
function shares(without: number, withIt: number, seconds: number): string[] {
  const ofCore = (used: number) => `${((100 * used) / seconds).toFixed(2)} %`;
  const more = (100 * (withIt - without)) / without;
  return [ofCore(without), ofCore(withIt), `${ofCore(withIt - without)} of a core`, `${more.toFixed(1)} %`];
}

async function start(program: string, parent: string, records: boolean): Promise<Party> {
  const folder = mkdtempSync(join(parent, 'agent-'));
  for (const name of ['manifests', 'drafts', 'root', 'runtime']) mkdirSync(join(folder, name));
  const socket = join(folder, 'runtime', 'cri.sock');
  const runtime = fork(fileURLToPath(import.meta.url), [socket]);
  await Promise.race([
    once(runtime, 'message'),
    once(runtime, 'exit').then(() => Promise.reject(new Error('the runtime has ended'))),
  ]);
  const configuration = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    ...{ maxPods: 1_000, cgroupsPerQOS: false, enforceNodeAllocatable: [] },
  };
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(configuration));
  const recording = records ? join(folder, 'agent.rec') : undefined;
  const flags = [
    ...['--pod-manifest-path', join(folder, 'manifests'), '--root-dir', join(folder, 'root')],
    ...['--pod-logs-dir', join(folder, 'logs'), '--config', join(folder, 'config.yaml')],
    ...['--container-runtime-endpoint', `unix://${socket}`, '--hostname-override', 'bench', '--healthz-port', '0'],
    ...(recording === undefined ? [] : ['--record', recording]),
  ];
  const log = openSync(join(folder, 'agent.log'), 'a');
  const agent = spawn(program, ['run', ...flags], { stdio: ['ignore', 'ignore', log] });
  process.on('exit', () => agent.kill('SIGKILL'));
  return {
    agent,
    runtime,
    socket,
    folder,
    ...(recording !== undefined && { recording }),
    cpuBefore: 0,
    bytesBefore: 0,
  };
}

async function stop({ agent, runtime }: Party): Promise<void> {
  if (agent.exitCode === null && agent.signalCode === null) {
    agent.kill('SIGTERM');
    await once(agent, 'exit');
  }
  runtime.disconnect();
}

function bytesOf({ recording }: Party): number {
  return recording === undefined ? 0 : statSync(recording).size;
}

function placeManifest(
  folder: string,
  index: number,
  version: number,
  ports: { readonly http: number; readonly tcp: number },
): void {
  const host = '127.0.0.1';
  const manifest = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${index}`, labels: { version: `v${version}` } },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: index % FLAKY_EVERY === 0 ? 'flaky' : 'main',
          ...{ image: 'bench.test/app:1', imagePullPolicy: 'IfNotPresent', command: ['sleep', '1000000'] },
          env: Array.from({ length: 10 }, (_, number) => ({ name: `NAME_${number}`, value: `value-${number}` })),
          readinessProbe: { periodSeconds: 10, timeoutSeconds: 5, httpGet: { host, port: ports.http, path: '/' } },
          livenessProbe: { periodSeconds: 10, timeoutSeconds: 5, tcpSocket: { host, port: ports.tcp } },
        },
      ],
    },
  });
  const draft = join(folder, 'drafts', 'pod');
  writeFileSync(draft, manifest);
  renameSync(draft, join(folder, 'manifests', `pod-${index}.json`));
}

/** Resolves when about `pods` containers run; some may have ended again. */
async function allRun(socket: string, pods: number): Promise<void> {
  const { runtime, close } = criClient({ endpoint: `unix://${socket}` });
  const count = async () => (await firstValueFrom(runtime.listContainers({}))).containers.length;
  while ((await count()) < pods) await pause(LOOK_EVERY_MS);
  close();
}
