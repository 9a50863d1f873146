import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { it as baseIt } from 'vitest';
import { readJournal } from '../../src/journal/journal-reader.js';
import type { JournalEntry } from '../../src/model/journal/journal.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { isAlive, type ProcessId, sendSignal } from '../../src/runtime/embedded/confinement/process-tree.js';
import { NODE_NAME } from './agent-files.js';
import { eventually } from './eventually.js';
import { mountedBelow } from '../support/mounted-below.js';
import { cgroupsCalled, describeProcess, processesNaming } from './processes.js';
import { RuntimeView } from './runtime-view.js';

export const BUNDLE = fileURLToPath(new URL('../../dist/rx-kubelet.js', import.meta.url));
const JOURNAL_END = 14;
const LAUNCHER = fileURLToPath(new URL('../../bin/rx-kubelet', import.meta.url));
export const isRoot = process.geteuid?.() === 0;
export { NODE_NAME } from './agent-files.js';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The agent as its users have it: the built bundle as a process, with a root directory and manifests of its own. */
export class Daemon extends RuntimeView {
  /** Everything that agents of this test have logged. */
  log = '';
  private readonly agents: ChildProcess[] = [];
  /** Agents and all other commands. */
  private readonly children: ChildProcess[] = [];
  private readonly atTheEnd: (() => Promise<unknown>)[] = [];
  private readonly onceGone: (() => Promise<unknown>)[] = [];
  private port = 0;
  private lastEntries: readonly string[] = [];
  /** Descriptors of this process that every command is started with, from 3 on. */
  handed: readonly number[] = [];
  /** The flags of Node before the program, and more variables of its environment. */
  preload: { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv } = { args: [], env: {} };
  /** Starts every command by `bin/rx-kubelet`, with the Node of this process first in the PATH, not by its bundle. */
  isLaunched = false;
  /** The bundle to start, in the place of the built one. */
  program?: string;
  /** The hard and the soft limit of open files of every command; that of this process unless given. */
  mostOpenFiles?: number;

  constructor(private readonly uid?: number) {
    super();
    if (uid !== undefined) for (const path of [this.directory, this.manifests, this.rootDir]) chownSync(path, uid, uid);
  }

  /** The built agent, where this user can read it: a checkout may lie where only its owner gets. */
  private get bundle(): string {
    if (this.program !== undefined) return this.program;
    if (this.uid === undefined) return BUNDLE;
    const copy = join(this.directory, 'package');
    if (!existsSync(copy)) {
      const isNeeded = (path: string): boolean => !path.endsWith('.map') && !path.endsWith('lib');
      cpSync(dirname(BUNDLE), join(copy, 'dist'), { recursive: true, filter: isNeeded });
      cpSync(join(dirname(BUNDLE), '..', 'package.json'), join(copy, 'package.json'));
    }
    return join(copy, 'dist', 'rx-kubelet.js');
  }

  // The agent

  /** Starts an agent and does not wait for anything. */
  spawn(...args: readonly string[]): ChildProcess {
    // A node of a cluster refuses a machine that swaps, as laptops do.
    const swap = args.includes('--kubeconfig') ? ['--fail-swap-on', 'false'] : [];
    const command = ['run', '--root-dir', this.rootDir, '--hostname-override', NODE_NAME, ...swap];
    const agent = this.process([...command, '--healthz-port', String(this.port), ...args]);
    agent.stderr?.setEncoding('utf8').on('data', (part: string) => (this.log += part));
    this.agents.push(agent);
    return agent;
  }

  /** Starts an agent on the folder of manifests; resolves when it runs and its server answers. */
  async start(...args: readonly string[]): Promise<void> {
    this.port ||= await freePort();
    const seen = this.log.length;
    const agent = this.spawn('--pod-manifest-path', this.manifests, ...args);
    await eventually('the agent serves, over a runtime', () => {
      const news = this.log.slice(seen);
      return (
        hasEnded(agent) ||
        (news.includes('health is served') && news.includes('metrics are served') && this.isRuntimeReady(news))
      );
    });
    if (hasEnded(agent)) throw new Error(`the agent has ended: ${this.log.slice(seen)}`);
  }

  /** Whether the log of an agent says that it has a runtime. */
  protected isRuntimeReady(news: string): boolean {
    return news.includes('the embedded runtime is ready');
  }

  get agent(): ChildProcess {
    const agent = this.agents.at(-1);
    if (!agent) throw new Error('no agent was started');
    return agent;
  }

  /** Whether the newest agent runs. */
  isAgentThere(): boolean {
    const agent = this.agents.at(-1);
    return agent !== undefined && !hasEnded(agent);
  }

  /** Signals the newest agent; resolves when it is gone. */
  async kill(signal: NodeJS.Signals): Promise<Ended> {
    const { agent } = this;
    if (!hasEnded(agent)) {
      const gone = once(agent, 'exit');
      agent.kill(signal);
      await gone;
    }
    return { code: agent.exitCode, signal: agent.signalCode };
  }

  /** Runs a command line to its end. */
  async run(
    ...args: readonly string[]
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
    const child = this.process(args);
    if (!child.stdout || !child.stderr) throw new Error('no pipes');
    const exit = once(child, 'exit') as Promise<[code: number | null]>;
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
    return { code, stdout, stderr };
  }

  /** Asks its port, which has its health and nothing else. */
  async health(query = ''): Promise<{ readonly status: number; readonly body: string }> {
    const response = await fetch(`http://127.0.0.1:${this.port}/healthz${query}`);
    return { status: response.status, body: await response.text() };
  }

  /** Asks the socket for the agent's own user. */
  get(path: string): Promise<{ readonly status: number; readonly body: string }> {
    return new Promise((resolve, reject) => {
      request({ socketPath: join(this.rootDir, 'agent', 'agent.sock'), path }, (response) => {
        text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
      })
        .on('error', reject)
        .end();
    });
  }

  /** The pods that the agent shows. */
  async shownPods(): Promise<readonly Pod[]> {
    const { items } = JSON.parse((await this.get('/pods')).body) as { readonly items: readonly Pod[] | null };
    return items ?? [];
  }

  journal(): readonly JournalEntry[] {
    return readJournal(join(this.rootDir, 'journal')).entries;
  }

  /** The last entries about pods, one JSON text each, also when everything is removed. */
  journalEnd(): readonly string[] {
    const ofPods = this.journal().filter(({ pod }) => pod !== undefined);
    return ofPods.length === 0 ? this.lastEntries : ofPods.slice(-JOURNAL_END).map((entry) => JSON.stringify(entry));
  }

  /** What was logged, one object per line. */
  logged(): readonly { readonly level: string; readonly message: string }[] {
    const lines = this.log.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
    return lines.map((line) => JSON.parse(line) as { level: string; message: string });
  }

  /** Starts a command line and does not wait for its end. */
  process(args: readonly string[]): ChildProcess {
    const { uid } = this;
    const limited = this.mostOpenFiles === undefined ? [] : ['prlimit', `--nofile=${this.mostOpenFiles}`];
    const command = this.isLaunched ? [LAUNCHER] : [process.execPath, ...this.preload.args, this.bundle];
    const [program = '', ...words] = [...limited, ...command, ...args];
    const child = spawn(program, words, {
      cwd: '/',
      // No signal to a process group reaches beyond the agent, in either direction.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', ...this.handed],
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
        HOME: this.directory,
        ...this.preload.env,
      },
      ...(uid !== undefined && { uid, gid: uid }),
    });
    this.children.push(child);
    return child;
  }

  // The runtime

  /** The runtime's process while it is alive. */
  runtimeProcess(): ProcessId | undefined {
    try {
      const path = join(this.rootDir, 'runtime', 'state', 'runtime.lock');
      const runtime = JSON.parse(readFileSync(path, 'utf8')) as ProcessId;
      return isAlive(runtime) ? runtime : undefined;
    } catch {
      return undefined;
    }
  }

  /** Starts a runtime by hand. */
  spawnRuntime(): ChildProcess {
    return this.process(['runtime', '--root-dir', this.rootDir]);
  }

  /** Signals the runtime; resolves when it is gone. */
  async killRuntime(signal: NodeJS.Signals): Promise<void> {
    const runtime = this.runtimeProcess();
    if (!runtime) return;
    sendSignal(runtime.pid, signal);
    await eventually('the runtime has ended', () => !isAlive(runtime));
  }

  // The end

  /** Has something done before the daemon is ended. */
  beforeDispose(act: () => Promise<unknown>): void {
    this.atTheEnd.push(act);
  }

  /** Has something done once the daemon and its pods are gone: what they ran in can go then. */
  afterDispose(act: () => Promise<unknown>): void {
    this.onceGone.push(act);
  }

  private sandboxIds(): string[] {
    const path = join(this.rootDir, 'runtime', 'state', 'sandboxes');
    return existsSync(path) ? readdirSync(path) : [];
  }

  /** Processes and cgroups that exist because of this test: the runtime and everything below it. */
  remains(sandboxIds: readonly string[] = this.sandboxIds()): string[] {
    return [
      ...processesNaming([this.directory, ...sandboxIds]).map(describeProcess),
      ...cgroupsCalled(new Set(sandboxIds)),
    ];
  }

  /** Ends and removes everything. Errors: something stays although every pod was removed; that is ended, too. */
  async dispose(): Promise<void> {
    await this.endChildren();
    const sandboxIds = this.sandboxIds();
    try {
      if (sandboxIds.length > 0) await this.removePods();
      await this.killRuntime('SIGTERM');
      await eventually('nothing is left over', () => {
        const remains = this.remains(sandboxIds);
        if (remains.length > 0) throw new Error(remains.join('\n'));
        return true;
      });
    } finally {
      this.closeClients();
      for (const { pid } of processesNaming([this.directory, ...sandboxIds])) sendSignal(pid, 'SIGKILL');
      // A volume in memory stays mounted when its agent is killed.
      for (const path of mountedBelow(this.directory)) spawnSync('umount', ['--lazy', path]);
      rmSync(this.directory, { recursive: true, force: true });
      for (const act of this.onceGone) await act();
    }
  }

  /** Does what was to be done before, then ends every agent and all other commands. */
  protected async endChildren(): Promise<void> {
    await Promise.allSettled(this.atTheEnd.map((act) => act()));
    for (const child of this.children.filter((child) => !hasEnded(child))) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    this.lastEntries = this.journalEnd();
  }

  private async removePods(): Promise<void> {
    if (!this.runtimeProcess()) this.spawnRuntime();
    const sandboxes = await eventually('the runtime answers', () => this.sandboxes());
    for (const { id } of sandboxes) {
      await eventually(`sandbox ${id} is removed`, async () => {
        await this.ask((runtime) => runtime.removePodSandbox({ podSandboxId: id }));
        return true;
      });
    }
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Below the ports that the kernel gives away by itself, so that a port stays free while its agent is away. */
const FIRST_PORT = 20_000;
/** Each worker of vitest has ports of its own. */
const WORKERS = 8;
const PORTS_OF_A_WORKER = 1_250;
const drawn = new Set<number>();

/** A port that no process listens on, and another one each time. Errors: there is none. */
export const freePort = async (): Promise<number> => {
  const worker = Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS;
  for (let tries = 0; tries < PORTS_OF_A_WORKER; tries += 1) {
    const port = FIRST_PORT + worker * PORTS_OF_A_WORKER + Math.floor(Math.random() * PORTS_OF_A_WORKER);
    if (!drawn.has(port) && (await isFree(port))) {
      drawn.add(port);
      return port;
    }
  }
  throw new Error(`no port is free for worker ${worker}`);
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, () => server.close(() => resolve(true)));
  });
};

/** Shows the end of the agents' log and of their journal with the failure of a test, as `.ci/lines-reporter.mjs` reads it. */
export const keepLog = (task: { readonly meta: object }, daemon: Daemon): void => {
  const journal = daemon.journalEnd().map((line) => line.slice(0, 400));
  Object.assign(task.meta, { agentLog: [daemon.log.slice(-4000).trimEnd(), ...journal].join('\n') });
};

/** `it` with a daemon that is ended afterwards in any case, and leaves nothing. */
export const it = baseIt.extend<{ readonly daemon: Daemon }>({
  daemon: async ({ task, onTestFailed }, use) => {
    const daemon = new Daemon();
    onTestFailed(() => keepLog(task, daemon));
    try {
      await use(daemon);
    } finally {
      await daemon.dispose();
    }
  },
});
