import { execFileSync, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { isCommand } from '../containerd/lacking.js';
import { killProcess } from '../support/kill-process.js';
import type { ClusterNode } from './cluster-node.js';

export interface KubectlResult {
  /** The exit code; null after a signal. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** An input whose second part follows the first output. */
export interface Dialogue {
  readonly first?: string;
  readonly afterOutput: string;
  /** Whether it ends there. Otherwise it is left open. */
  readonly ends?: boolean;
  /**
   * Called once the output ends with `text`. A container that ends right after its last line may have that line lost by its
   * runtime, so that it waits for this.
   */
  readonly seen?: { readonly text: string; readonly then: () => Promise<unknown> };
}

/** The standard input of a command. */
export type Input = string | Buffer | Dialogue;

/** A node of a cluster as kubectl needs it, over every runtime. */
type Node = Pick<ClusterNode, 'cluster' | 'nodeName' | 'rootDir'>;

/** The arguments that every kubectl has: the cluster, and the namespace of the node. */
export const kubectlFlags = (node: Node): readonly string[] => [
  ...['--kubeconfig', join(node.cluster.folder, 'admin.kubeconfig'), '--namespace', node.nodeName],
  ...['--cache-dir', join(node.rootDir, 'kubectl-cache')],
];

/** A command that hangs is killed after that time. */
const HANGS_MS = 120_000;

const whenSeen = async (output: Readable, { text: last, then }: NonNullable<Dialogue['seen']>): Promise<void> => {
  let end = '';
  for await (const [part] of on(output, 'data', { close: ['end'] }) as AsyncIterable<[Buffer]>) {
    end = `${end}${part.toString()}`.slice(-last.length);
    if (end !== last) continue;
    await then();
    return;
  }
};

/** Runs a command to its end, with `input` as its standard input. */
export const runCommand = ([command = '', ...args]: readonly string[], input: Input = ''): Promise<KubectlResult> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'pipe' });
    const hanging = setTimeout(() => killProcess(child.pid, 'SIGKILL'), HANGS_MS);
    // A command may end before it has read all of it.
    child.stdin.on('error', () => undefined);
    if (typeof input === 'object' && 'afterOutput' in input) {
      if (input.first !== undefined) child.stdin.write(input.first);
      child.stdout.once('data', () => {
        child.stdin.write(input.afterOutput);
        if (input.ends) child.stdin.end();
      });
    } else child.stdin.end(input);
    const seen =
      typeof input === 'object' && 'seen' in input && input.seen ? whenSeen(child.stdout, input.seen) : undefined;
    const outputs = Promise.all([buffer(child.stdout), text(child.stderr)]);
    child.on('error', reject).on('close', (code) => {
      clearTimeout(hanging);
      child.stdin.destroy();
      outputs.then(([stdout, stderr]) => resolve({ code, stdout, stderr }), reject);
    });
    seen?.catch(reject);
  });

const program = process.env.KUBECTL ?? 'kubectl';

/** The minor version of kubectl, such as 20; 0 where there is none, as where its tests are skipped. */
export const kubectlMinor = (): number => {
  if (!isCommand(program)) return 0;
  const text = execFileSync(program, ['version', '--client', '--output=json'], { encoding: 'utf8' });
  const { clientVersion } = JSON.parse(text) as { readonly clientVersion: { readonly minor: string } };
  return Number.parseInt(clientVersion.minor, 10);
};

/** The beginning of the command line of kubectl as the admin of the cluster, in the namespace of the node. */
export const kubectlCommand = (node: Node): readonly string[] => [program, ...kubectlFlags(node)];

/** Runs kubectl as the admin of the cluster, in the namespace of the node unless the arguments name another one. */
export const kubectl = (node: Node, args: readonly string[], input?: Input): Promise<KubectlResult> =>
  runCommand([...kubectlCommand(node), ...args], input);

export interface RunningKubectl {
  /** The output so far. */
  readonly output: () => string;
  readonly problems: () => string;
  /** Resolves with the exit code. */
  readonly exit: Promise<number | null>;
}

/** Starts kubectl; it ends with the node at the latest. */
export const startKubectl = (node: ClusterNode, ...args: readonly string[]): RunningKubectl => {
  const child = spawn(program, [...kubectlFlags(node), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
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
