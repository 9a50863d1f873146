import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { nodePath } from '../../src/model/kube-api/api-paths.js';
import type { Cluster } from '../../test/cluster/cluster.js';
import type { ApiNode } from '../../test/cluster/cluster-node.js';
import { killProcess } from '../../test/support/kill-process.js';

const LONGEST_MS = 300_000;

export interface ClusterAgent {
  readonly pid: number;
  /** Ends the agent and its runtime. */
  readonly end: () => Promise<void>;
}

/** Starts an agent with the embedded runtime as a node of a cluster; resolves when the node is ready. Its root directory is `root`. */
export async function startAgent(
  cluster: Cluster,
  nodeName: string,
  program: string,
  folder: string,
): Promise<ClusterAgent> {
  const root = join(folder, 'root');
  mkdirSync(root);
  const config = join(folder, 'config.json');
  const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
  writeFileSync(config, JSON.stringify({ ...kind, maxPods: 1_000, clusterDNS: ['10.0.0.10'] }));
  const flags = [
    '--kubeconfig',
    await cluster.kubeconfig(nodeName),
    '--hostname-override',
    nodeName,
    '--root-dir',
    root,
  ];
  const log = openSync(join(folder, 'agent.log'), 'a');
  const child = spawn(program, ['run', ...flags, '--config', config, '--healthz-port', '0', '--stop-pods-on-exit'], {
    stdio: ['ignore', 'ignore', log],
  });
  const gone = once(child, 'exit');
  process.on('exit', () => child.kill('SIGKILL'));
  await until('the node is ready', async () => {
    if (child.exitCode !== null) throw new Error(`the agent has ended: see ${folder}/agent.log`);
    const node = await cluster.admin.find<ApiNode>(nodePath(nodeName));
    return node?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  });
  const end = async (): Promise<void> => {
    const { pid } = JSON.parse(readFileSync(join(root, 'runtime', 'state', 'runtime.lock'), 'utf8')) as { pid: number };
    child.kill('SIGTERM');
    await gone;
    // The embedded runtime outlives its agent.
    killProcess(pid, 'SIGTERM');
    await until('the runtime has ended', () => !existsSync(`/proc/${pid}`));
  };
  return { pid: child.pid!, end };
}

/** Unix milliseconds, with fractions. */
export const now = (): number => performance.timeOrigin + performance.now();

/** Resolves once `look` returns true, which is called every `everyMs` milliseconds. Errors: after five minutes. */
export async function until(what: string, look: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  for (const deadline = now() + LONGEST_MS; !(await look());) {
    if (now() > deadline) throw new Error(`not within ${LONGEST_MS / 1_000} s: ${what}`);
    await pause(everyMs);
  }
}
