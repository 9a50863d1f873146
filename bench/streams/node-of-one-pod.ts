import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { firstValueFrom } from 'rxjs';
import { type CriClient, criClient } from '../../src/runtime/cri-client.js';
import { killProcess } from '../../test/support/kill-process.js';
import { freePort, runtimePid } from '../embedded-agent.js';

/** An agent over the embedded runtime, with one pod of one container that runs. */
export interface NodeOfOnePod {
  readonly agentPid: number;
  /** The address of the kubelet API, which serves every client of this machine. */
  readonly origin: string;
  /** `<namespace>/<pod>/<container>`, as in the paths of that API. */
  readonly container: string;
  readonly containerId: string;
  /** The log of the container, as the runtime writes it. */
  readonly logFile: string;
  /** The CRI, without the agent. */
  readonly cri: CriClient;
  /** The flags with which a command of `bin/rx-kubelet` finds this agent. */
  readonly here: readonly string[];
}

const NODE_NAME = 'bench';
const READY_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

/** Runs `work` beside a pod with the script, then removes all of it. Errors: the container does not run within a minute. */
export const withOnePod = async (script: string, work: (node: NodeOfOnePod) => Promise<void>): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), 'rx-kubelet-bench-'));
  const [manifests, state] = [join(root, 'manifests'), join(root, 'state')];
  for (const path of [manifests, state]) mkdirSync(path);
  const main = { name: 'main', image: 'host', command: ['sh', '-c', script] };
  const spec = { terminationGracePeriodSeconds: 1, containers: [main] };
  writeFileSync(
    join(manifests, 'pod.json'),
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod' }, spec }),
  );
  const port = await freePort();
  const agent = spawn(
    'bin/rx-kubelet',
    [
      ...['run', '--pod-manifest-path', manifests, '--root-dir', state, '--hostname-override', NODE_NAME],
      ...['--healthz-port', '0', '--address', '127.0.0.1', '--port', String(port), '--anonymous-auth'],
      ...['--authorization-mode', 'AlwaysAllow', '--stop-pods-on-exit'],
    ],
    { stdio: 'ignore' },
  );
  const ended = once(agent, 'exit');
  const cri = criClient({ endpoint: `unix://${join(state, 'runtime', 'runtime.sock')}` });
  try {
    const { containerId, logFile } = await running(cri);
    await work({
      ...{ agentPid: agent.pid!, origin: `127.0.0.1:${port}`, container: `default/pod-${NODE_NAME}/main` },
      ...{ containerId, logFile, cri, here: ['--root-dir', state] },
    });
  } finally {
    cri.close();
    agent.kill('SIGTERM');
    await ended;
    killProcess(runtimePid(state), 'SIGTERM');
    rmSync(root, { recursive: true, force: true });
  }
};

const running = async (cri: CriClient): Promise<Pick<NodeOfOnePod, 'containerId' | 'logFile'>> => {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      const { containers } = await firstValueFrom(cri.runtime.listContainers({}));
      const [container] = containers;
      if (container) {
        const { status } = await firstValueFrom(
          cri.runtime.containerStatus({ containerId: container.id, verbose: false }),
        );
        if (status && status.startedAt > 0) return { containerId: container.id, logFile: status.logPath };
      }
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    if (performance.now() > deadline) throw new Error('the container does not run within a minute');
    await pause(LOOK_EVERY_MS);
  }
};
