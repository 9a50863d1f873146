import { execFile } from 'node:child_process';
import { existsSync, linkSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { status } from '@grpc/grpc-js';
import { it as baseIt, type TestAPI } from 'vitest';
import { isAlive, processId } from '../../src/runtime/embedded/confinement/process-tree.js';
import type { PodSandbox } from '../../src/generated/runtime/v1/api.js';
import type { PodStatus } from '../../src/model/pod/pod.js';
import { Daemon, keepLog, NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { type ContainerOf, type PodOf } from '../embedded/manifests.js';
import { mountedBelow } from '../support/mounted-below.js';
import { cgroupsCalled, describeProcess, processesNaming } from '../embedded/processes.js';
import { CriProxy } from '../support/cri-proxy.js';
import { killProcess } from '../support/kill-process.js';
import { lackingForContainerd as missing } from './lacking.js';
import { type Registries, startRegistries } from './registries.js';

const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(`stage/${name}`, import.meta.url));

export const BUSYBOX = 'stage.test/busybox:1';
/** Serves HTTP on port 8080 as user 1000. */
export const SERVER = 'stage.test/server:1';
/** Runs as the user `web`, who has the ids 1000 and is in the group 3000, too. */
export const NAMED = 'stage.test/named:1';
/** Waits for good, and ends at once when asked to: as the first process of its namespace it would not without the trap. */
export const WAIT = "trap 'exit 0' TERM; while :; do sleep 2147483 & wait $!; done";

const ofImage = ({ script = WAIT, ...container }: ContainerOf): ContainerOf => ({
  image: BUSYBOX,
  script,
  ...container,
});

/** The agent over a containerd without any other client. Pods have the shell of busybox unless they say otherwise. */
export class ContainerdNode extends Daemon {
  /** `containerd` is the path of another one than that of the machine. */
  constructor(private readonly containerd = process.env.CONTAINERD) {
    super();
  }

  private keeper: CriProxy | undefined;
  readonly stage = join(this.directory, 'stage');
  readonly logs = join(this.rootDir, 'pod-logs');

  /** Starts containerd unless it runs; resolves when it answers. Errors: what the machine lacks. */
  async startRuntime(): Promise<void> {
    if (missing.length > 0) throw new Error(`a real containerd needs ${missing.join(', ')}`);
    const { containerd } = this;
    await run(script('up.sh'), [this.stage], {
      env: { ...process.env, ...(containerd && { CONTAINERD: containerd }) },
    });
  }

  /**
   * From now on agents cannot remove containers and sandboxes of these pods. What has ended of a deleted pod is otherwise gone at any
   * moment, often before a test has seen it.
   */
  async keepEnded(pod: RegExp): Promise<void> {
    this.keeper = await CriProxy.start(this.runtimeSocket, join(this.directory, 'keeper.sock'));
    this.keeper.fail({ methods: ['removeContainer', 'removePodSandbox'], pod }, status.INTERNAL, 'the test keeps it');
  }

  /** Keeps the log of a container, which an agent removes before it removes the container. */
  keepLog({ logPath }: { readonly logPath: string }): void {
    if (!existsSync(this.keptLog(logPath))) linkSync(logPath, this.keptLog(logPath));
  }

  /** Where the log of a container is, also one that was kept. */
  logFile({ logPath }: { readonly logPath: string }): string {
    const kept = this.keptLog(logPath);
    return existsSync(kept) ? kept : logPath;
  }

  override logLines(status: { readonly logPath: string }): ReturnType<Daemon['logLines']> {
    return super.logLines({ logPath: this.logFile(status) });
  }

  private keptLog(logPath: string): string {
    return join(this.directory, `kept-${relative(this.logs, logPath).replaceAll('/', '_')}`);
  }

  /** Two registries on loopback with the images of the tests, one behind a password; started unless they run. */
  registries(): Promise<Registries> {
    return startRegistries(this.stage);
  }

  /** Signals containerd; resolves when it is gone. Its containers stay. Errors: it does not run. */
  override async killRuntime(signal: NodeJS.Signals): Promise<void> {
    const containerd = processId(Number(readFileSync(join(this.stage, 'containerd.pid'), 'utf8')));
    killProcess(containerd?.pid, signal);
    await eventually('containerd has ended', () => containerd && !isAlive(containerd));
  }

  /** Whether the containerd that was started last runs. */
  isRuntimeThere(): boolean {
    const containerd = processId(Number(readFileSync(join(this.stage, 'containerd.pid'), 'utf8')));
    return containerd !== undefined && isAlive(containerd);
  }

  /** Below this the agent makes the cgroups of its pods: agents with the same root would take each other's for orphans. */
  get cgroupRoot(): string {
    return readFileSync(join(this.stage, 'cgroup-root'), 'utf8').trim();
  }

  protected override get runtimeSocket(): string {
    return join(this.stage, 'containerd.sock');
  }

  protected override isRuntimeReady(): boolean {
    return true;
  }

  override spawn(...args: readonly string[]): ReturnType<Daemon['spawn']> {
    const endpoint = this.keeper?.endpoint ?? `unix://${this.runtimeSocket}`;
    const own = [
      '--container-runtime-endpoint',
      endpoint,
      '--pod-logs-dir',
      this.logs,
      '--cgroup-root',
      this.cgroupRoot,
    ];
    return super.spawn(...own, ...args);
  }

  override apply({ containers = [{}], initContainers, ...pod }: PodOf): void {
    super.apply({
      ...pod,
      containers: containers.map(ofImage),
      ...(initContainers && { initContainers: initContainers.map(ofImage) }),
    });
  }

  /** What a command in a container prints, without the last line's end. Errors: it ended with another exit code than 0. */
  async exec(containerId: string, ...cmd: readonly string[]): Promise<string> {
    const reply = await this.ask((runtime) => runtime.execSync({ containerId, cmd: [...cmd], timeout: 10n }));
    if (reply.exitCode === 0) return Buffer.from(reply.stdout).toString().trimEnd();
    throw new Error(`${cmd.join(' ')} ended with ${reply.exitCode}: ${Buffer.from(reply.stderr).toString()}`);
  }

  /**
   * Makes the file for which a container's script waits. Where that ends then at once, the command may be killed with it: the first process
   * takes its namespace along.
   */
  async letGo(containerId: string, file: string): Promise<void> {
    const { exitCode } = await this.ask((runtime) =>
      runtime.execSync({ containerId, cmd: ['touch', file], timeout: 10n }),
    );
    if (exitCode !== 0 && exitCode !== 137) throw new Error(`touch ${file} ended with ${exitCode}`);
  }

  /** The process id, on this machine, of a container's first process. */
  async pidOf(containerId: string): Promise<number> {
    const { info } = await this.ask((runtime) => runtime.containerStatus({ containerId, verbose: true }));
    return pidIn(info);
  }

  async sandboxPid(podSandboxId: string): Promise<number> {
    const { info } = await this.ask((runtime) => runtime.podSandboxStatus({ podSandboxId, verbose: true }));
    return pidIn(info);
  }

  /** The newest sandbox of a pod. Errors: it has none. */
  async sandboxOf(pod: string): Promise<PodSandbox> {
    const { items } = await this.ask((runtime) => runtime.listPodSandbox({}));
    const [newest] = items
      .filter(({ metadata }) => metadata?.name === `${pod}-${NODE_NAME}`)
      .toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
    if (!newest) throw new Error(`${pod} has no sandbox`);
    return newest;
  }

  /** What the network of a pod's sandbox is called from outside. */
  async addressOf(pod: string): Promise<string> {
    const { id } = await this.sandboxOf(pod);
    const { status } = await this.ask((runtime) => runtime.podSandboxStatus({ podSandboxId: id }));
    return status?.network?.ip ?? '';
  }

  /** The status of a pod as the agent's server shows it. */
  async podStatus(pod: string): Promise<PodStatus | undefined> {
    return (await this.shownPods()).find(({ metadata }) => metadata.name === `${pod}-${NODE_NAME}`)?.status;
  }

  /** Why a container waits, as the agent's server shows it. */
  async waiting(pod: string, name = 'main'): Promise<{ readonly reason?: string; readonly message?: string }> {
    const { containerStatuses = [], initContainerStatuses = [] } = (await this.podStatus(pod)) ?? {};
    const status = [...containerStatuses, ...initContainerStatuses].find((one) => one.name === name);
    return status?.state?.waiting ?? {};
  }

  /** Containers and sandboxes of the pod, in any state, and its folders of logs. */
  async tracesOf(pod: string): Promise<string[]> {
    const name = `${pod}-${NODE_NAME}`;
    const [containers, sandboxes] = [await this.containers(), await this.sandboxes()];
    const folders = existsSync(this.logs) ? readdirSync(this.logs) : [];
    return [
      ...containers.filter((one) => one.pod === name).map(({ name, state }) => `container ${name} ${state}`),
      ...sandboxes.filter((one) => one.pod === name).map(({ state }) => `sandbox ${state}`),
      ...folders.filter((folder) => folder.startsWith(`default_${name}_`)).map((folder) => `logs ${folder}`),
    ];
  }

  /** Network namespaces that containerd has made. */
  networks(): string[] {
    return readdirSync(join(this.stage, 'state/io.containerd.grpc.v1.cri/netns'));
  }

  /** Addresses that are taken. */
  addresses(): string[] {
    const networks = join(this.stage, 'cni-addresses');
    return readdirSync(networks).flatMap((name) =>
      readdirSync(join(networks, name)).filter((file) => /^\d+(\.\d+){3}$/.test(file)),
    );
  }

  /** The processes by which containerd holds pods, one for each. */
  shims(): string[] {
    return processesNaming([this.runtimeSocket])
      .map(describeProcess)
      .filter((line) => line.includes('containerd-shim'));
  }

  /** Ends and removes everything. Errors: something stays nevertheless. */
  override async dispose(): Promise<void> {
    const ids = await this.ids();
    await this.endChildren();
    await this.keeper?.close();
    this.closeClients();
    if (existsSync(this.stage)) await run(script('down.sh'), [this.stage]);
    try {
      await eventually('nothing is left over', () => {
        const remains = [
          ...processesNaming([this.directory, ...ids]).map(describeProcess),
          ...cgroupsCalled(new Set(ids)),
        ];
        if (remains.length > 0) throw new Error(remains.join('\n'));
        return true;
      });
    } finally {
      // No agent is left to take down the volumes of pods that were running, and removing them would reach into what is mounted.
      for (const path of mountedBelow(this.directory)) await run('umount', ['--lazy', path]);
      rmSync(this.directory, { recursive: true, force: true });
    }
  }

  private async ids(): Promise<string[]> {
    try {
      return [...(await this.containers()), ...(await this.sandboxes())].map(({ id }) => id);
    } catch {
      // It never came up, or was killed.
      return [];
    }
  }
}

const pidIn = ({ info = '' }: { [key: string]: string }): number => {
  const { pid } = JSON.parse(info) as { readonly pid: number };
  if (!(pid > 0)) throw new Error(`a verbose status without a process: ${info}`);
  return pid;
};

/** `it` with a containerd of its own, of the given path, that is ended afterwards in any case, and leaves nothing. */
export const itOver = (containerd?: () => Promise<string>): TestAPI<{ readonly node: ContainerdNode }> =>
  baseIt.extend<{ readonly node: ContainerdNode }>({
    node: async ({ task, onTestFailed }, use) => {
      const node = new ContainerdNode(await containerd?.());
      onTestFailed(() => keepLog(task, node));
      try {
        await node.startRuntime();
        await use(node);
      } finally {
        await node.dispose();
      }
    },
  });

/** `it` over the containerd of the machine. */
export const it = itOver();
