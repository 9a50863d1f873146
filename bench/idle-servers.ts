/**
 * The cost of open servers without clients: two agents side by side, without pods, one with all ports open and one with the socket of
 * its own user alone. Prints for both the CPU time, and how often a thread has begun to wait, which does not depend on the load of the
 * machine.
 *
 *   npm run bench:idle -- [--seconds 60] [--rounds 3] [--agent bin/rx-kubelet]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { killProcess } from '../test/support/kill-process.js';
import { freePort, runtimePid } from './embedded-agent.js';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
    agent: { type: 'string', default: 'bin/rx-kubelet' },
  },
});
const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)];
const SETTLING_MS = 20_000;
const READY_WITHIN_MS = 60_000;

interface Agent {
  readonly name: string;
  readonly process: ChildProcess;
  readonly root: string;
}

const start = (name: string, flags: readonly string[]): Agent => {
  const root = mkdtempSync(join(tmpdir(), 'rx-kubelet-bench-'));
  const [manifests, state] = [join(root, 'manifests'), join(root, 'state')];
  for (const path of [manifests, state]) mkdirSync(path);
  const own = ['run', '--pod-manifest-path', manifests, '--root-dir', state];
  return { name, root, process: spawn(options.agent, [...own, ...flags], { stdio: 'ignore' }) };
};

const answers = ({ root }: Agent): Promise<boolean> =>
  new Promise((resolve) => {
    request({ socketPath: join(root, 'state', 'agent', 'agent.sock'), path: '/pods', agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode === 200));
    })
      .on('error', () => resolve(false))
      .end();
  });

const served = async (agent: Agent): Promise<void> => {
  for (const deadline = performance.now() + READY_WITHIN_MS; !(await answers(agent)); await pause(200)) {
    if (performance.now() > deadline) throw new Error(`${agent.name}: not ready within a minute`);
  }
};

interface Cost {
  readonly waits: number;
  readonly cpuMs: number;
}

/** What all threads of a process have cost so far. */
const costOf = ({ process: { pid } }: Agent): Cost => {
  const tasks = `/proc/${pid}/task`;
  let [waits, cpuMs] = [0, 0];
  for (const task of readdirSync(tasks)) {
    waits += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(join(tasks, task, 'status'), 'utf8'))?.[1]);
    cpuMs += Number(readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ')[0]) / 1e6;
  }
  return { waits, cpuMs };
};

const ports = await Promise.all([freePort(), freePort(), freePort()]);
const agents = [
  start('all ports', [
    ...['--address', '127.0.0.1', '--healthz-port', String(ports[0]), '--port', String(ports[1])],
    ...['--read-only-port', String(ports[2]), '--anonymous-auth', '--authorization-mode', 'AlwaysAllow'],
  ]),
  start('the socket alone', ['--healthz-port', '0', '--port', '0']),
];
const ended = agents.map(({ process: child }) => once(child, 'exit'));
try {
  await Promise.all(agents.map(served));
  await pause(SETTLING_MS);
  console.log(`${rounds} rounds of ${seconds} s, load average ${loadavg()[0]?.toFixed(1)}`);
  for (let round = 1; round <= rounds; round += 1) {
    const before = agents.map(costOf);
    await pause(seconds * 1_000);
    const after = agents.map(costOf);
    for (const [index, { name }] of agents.entries()) {
      const [from, to] = [before[index]!, after[index]!];
      const [waits, cpu] = [(to.waits - from.waits) / seconds, (to.cpuMs - from.cpuMs) / seconds];
      console.log(`${round}  ${name.padEnd(20)} ${waits.toFixed(2)} waits/s, ${cpu.toFixed(2)} ms of CPU/s`);
    }
  }
} finally {
  for (const { process: child } of agents) child.kill('SIGTERM');
  await Promise.all(ended);
  for (const { root } of agents) {
    killProcess(runtimePid(join(root, 'state')), 'SIGTERM');
    rmSync(root, { recursive: true, force: true });
  }
}
