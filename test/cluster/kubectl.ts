import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { killProcess } from '../support/kill-process.js';
import type { ClusterNode } from './cluster-node.js';

export interface KubectlResult {
  /** The exit code; null after a signal. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** The standard input of a command, of which it sees the end unless that is left open. */
export type Input = string | Buffer | { readonly text: string; readonly isLeftOpen: true };

/** The arguments that every kubectl has: the cluster, and the namespace of the node. */
export const kubectlFlags = (node: ClusterNode): readonly string[] => [
  ...['--kubeconfig', join(node.cluster.folder, 'admin.kubeconfig'), '--namespace', node.nodeName],
  ...['--cache-dir', join(node.rootDir, 'kubectl-cache')],
];

/** A command that hangs is killed after that time. */
const HANGS_MS = 120_000;

/** Runs a command to its end, with `input` as its standard input. */
export const runCommand = ([command = '', ...args]: readonly string[], input: Input = ''): Promise<KubectlResult> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'pipe' });
    const hanging = setTimeout(() => killProcess(child.pid, 'SIGKILL'), HANGS_MS);
    // A command may end before it has read all of it.
    child.stdin.on('error', () => undefined);
    if (typeof input === 'object' && 'text' in input) child.stdin.write(input.text);
    else child.stdin.end(input);
    const outputs = Promise.all([buffer(child.stdout), text(child.stderr)]);
    child.on('error', reject).on('close', (code) => {
      clearTimeout(hanging);
      child.stdin.destroy();
      outputs.then(([stdout, stderr]) => resolve({ code, stdout, stderr }), reject);
    });
  });

export const kubectl = (node: ClusterNode, args: readonly string[], input?: Input): Promise<KubectlResult> =>
  runCommand(['kubectl', ...kubectlFlags(node), ...args], input);
