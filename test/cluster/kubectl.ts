import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ClusterNode } from './cluster-node.js';

export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const program = process.env.KUBECTL ?? 'kubectl';

const argumentsOf = ({ cluster, nodeName, directory }: ClusterNode, args: readonly string[]): readonly string[] => [
  ...['--kubeconfig', join(cluster.folder, 'admin.kubeconfig'), '--namespace', nodeName],
  ...['--cache-dir', join(directory, 'kubectl-cache')],
  ...args,
];

/** Runs kubectl as the admin of the cluster, in the namespace of the node unless the arguments name another one. */
export const kubectl = (node: ClusterNode, ...args: readonly string[]): Promise<Printed> =>
  new Promise((resolve, reject) => {
    execFile(program, argumentsOf(node, args), (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(new Error(`${program} did not run`, { cause: error }));
      else resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });

export interface RunningKubectl {
  /** The output so far. */
  readonly output: () => string;
  readonly problems: () => string;
  /** Resolves with the exit code. */
  readonly exit: Promise<number | null>;
}

/** Starts kubectl; it ends with the node at the latest. */
export const startKubectl = (node: ClusterNode, ...args: readonly string[]): RunningKubectl => {
  const child = spawn(program, argumentsOf(node, args), { stdio: ['ignore', 'pipe', 'pipe'] });
  node.beforeDispose(async () => void child.kill('SIGKILL'));
  let [output, problems] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (problems += part));
  return {
    output: () => output,
    problems: () => problems,
    exit: once(child, 'close').then(([code]) => code as number | null),
  };
};
