import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { cpuSeconds } from '../startup/proc.js';
import type { NodeOfOnePod } from './node-of-one-pod.js';

/** How long `true` took in the container, in milliseconds, by the way that the request went. */
export interface RoundTrips {
  readonly way: string;
  readonly ms: readonly number[];
  /** The CPU of the agent for each, in milliseconds. */
  readonly agentMs: number;
}

/** The channel of the protocol that carries the end of the command. */
const STATUS = 3;
const WARM_UPS = 5;

/** Runs `true` `rounds` times in each way, one after the other. Errors: a command that fails. */
export const roundTrips = async (node: NodeOfOnePod, rounds: number): Promise<readonly RoundTrips[]> => {
  const { agentPid, containerId, cri, origin, container, here } = node;
  const ways: readonly (readonly [string, () => Promise<void>])[] = [
    ['CRI ExecSync, without the agent', () => execSync(node)],
    [
      'CRI Exec over WebSocket, without the agent',
      async () => {
        const request = { containerId, cmd: ['true'], stdout: true, stdin: false, stderr: false, tty: false };
        const { url } = await firstValueFrom(cri.streaming.exec(request));
        await overWebSocket(url.replace(/^http/, 'ws'));
      },
    ],
    ['kubelet API over WebSocket', () => overWebSocket(`wss://${origin}/exec/${container}?command=true&output=1`)],
    ['rx-kubelet exec, a process each', () => command(['exec', 'pod', ...here, '--', 'true'])],
  ];
  const found: RoundTrips[] = [];
  for (const [way, run] of ways) {
    for (let index = 0; index < WARM_UPS; index++) await run();
    const [before, ms] = [cpuSeconds(agentPid), [] as number[]];
    for (let index = 0; index < rounds; index++) {
      const startedAt = performance.now();
      await run();
      ms.push(performance.now() - startedAt);
    }
    found.push({ way, ms, agentMs: (1_000 * (cpuSeconds(agentPid) - before)) / rounds });
  }
  return found;
};

const execSync = async ({ cri, containerId }: NodeOfOnePod): Promise<void> => {
  const { exitCode } = await firstValueFrom(cri.runtime.execSync({ containerId, cmd: ['true'] }));
  if (exitCode !== 0) throw new Error(`true ended with ${exitCode}`);
};

/** As kubectl does; a connection of its own for each command. */
const overWebSocket = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, 'v4.channel.k8s.io', { rejectUnauthorized: false });
    let status = '';
    socket.on('message', (message: Buffer) => {
      if (message[0] === STATUS) status += message.subarray(1).toString();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      if (status.includes('"Success"')) resolve();
      else reject(new Error(`true ended with ${status || 'no status'}`));
    });
  });

const command = async (args: readonly string[]): Promise<void> => {
  const child = spawn('bin/rx-kubelet', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`rx-kubelet ${args.join(' ')} ended with ${code}`);
};
