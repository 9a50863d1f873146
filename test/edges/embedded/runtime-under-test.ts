import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, credentials, Metadata, type MethodDefinition, type ServiceError } from '@grpc/grpc-js';
import { buildSync } from 'esbuild';
import {
  ContainerConfig,
  ImageServiceService,
  PodSandboxConfig,
  RuntimeServiceService,
  type ContainerEventResponse,
  type ContainerStatus,
  type DeepPartial,
} from '../../../src/generated/runtime/v1/api.js';
import { instanceOf, type Instance } from '../../../src/runtime/embedded/machine/instance.js';
import { endRuntime } from './end-runtime.js';

/** Nothing takes that long; a machine that does other things may stand still for a while. */
const DEADLINE_MS = 60_000;

/** Waits for an effect of another process. Errors: `what` did not come about in time. */
export const eventually = async <T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> => {
  for (const end = Date.now() + DEADLINE_MS; ;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not within ${DEADLINE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

type Calls<Service> = {
  [Name in keyof Service]: Service[Name] extends {
    requestSerialize: (value: infer Request) => Buffer;
    responseDeserialize: (bytes: Buffer) => infer Response;
  }
    ? (request: DeepPartial<Request>) => Promise<Response>
    : never;
};

interface Message {
  fromPartial: (value: unknown) => unknown;
}

/** Promise-shaped calls of every unary method of the service. */
const callsOf = <Service extends object>(client: Client, service: Service, messages: Record<string, Message>) =>
  Object.fromEntries(
    Object.entries(service).map(([name, method]: [string, MethodDefinition<unknown, unknown>]) => [
      name,
      (request: unknown) =>
        new Promise((resolve, reject) => {
          const method_ = method.path.slice(method.path.lastIndexOf('/') + 1);
          const full = messages[`${method_}Request`]?.fromPartial(request) ?? request;
          client.makeUnaryRequest(
            method.path,
            method.requestSerialize,
            method.responseDeserialize,
            full,
            new Metadata(),
            { deadline: Date.now() + 60_000 },
            (error: ServiceError | null, response) => (error ? reject(error) : resolve(response)),
          );
        }),
    ]),
  ) as unknown as Calls<Service>;

const messages = (await import('../../../src/generated/runtime/v1/api.js')) as unknown as Record<string, Message>;

export const clientOf = (socketPath: string): Client =>
  new Client(`unix:${socketPath}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
  });

export type RuntimeCalls = Calls<typeof RuntimeServiceService>;

export const runtimeCalls = (client: Client): RuntimeCalls => callsOf(client, RuntimeServiceService, messages);

export interface RuntimeUnderTestOptions {
  /** Runs the runtime as this user instead of the test's. */
  readonly uid?: number;
  /** Has its directory in this one instead of that for temporary files. */
  readonly parent?: string;
}

/** The runtimes that a test has started and not seen end. */
const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** The real server in a child process with its own state directory; can be killed and started again. */
export class RuntimeUnderTest {
  /** With a comma, which is nothing special in a path, but would be in the options of a mount. */
  readonly directory: string;
  readonly socketPath: string;
  readonly stateDirectory: string;
  readonly logDirectory: string;
  private readonly bundle: string;
  private child: ChildProcess | undefined;
  private instance: Instance | undefined;
  stderr = '';
  client?: Client;
  runtime!: RuntimeCalls;
  images!: Calls<typeof ImageServiceService>;
  readonly sandboxIds: string[] = [];

  constructor(private readonly options: RuntimeUnderTestOptions = {}) {
    this.directory = mkdtempSync(join(options.parent ?? tmpdir(), 'rx-embedded,-'));
    this.socketPath = join(this.directory, 'rt.sock');
    this.stateDirectory = join(this.directory, 'state');
    this.logDirectory = join(this.directory, 'logs');
    this.bundle = join(this.directory, 'serve.mjs');
    chmodSync(this.directory, 0o777);
    buildSync({
      entryPoints: [join(import.meta.dirname, 'serve.ts')],
      outfile: this.bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" },
    });
  }

  /** Errors: it was not started. */
  get pid(): number {
    if (this.child?.pid === undefined) throw new Error('the runtime was not started');
    return this.child.pid;
  }

  /** Resolves when it serves. */
  async start(): Promise<this> {
    const child = spawn(process.execPath, [this.bundle, this.socketPath, this.stateDirectory], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own: a signal of the runtime to its group reaches no test.
      detached: true,
      ...(this.options.uid === undefined ? {} : { uid: this.options.uid, gid: this.options.uid }),
    });
    this.child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    await eventually('the runtime serves', () => {
      if (hasEnded(child)) throw new Error(`the runtime ended: ${this.stderr}`);
      return stdout.includes('serving');
    }).catch((error: unknown) => {
      child.kill('SIGKILL');
      throw error;
    });
    this.instance = instanceOf(this.stateDirectory);
    this.client = clientOf(this.socketPath);
    this.runtime = runtimeCalls(this.client);
    this.images = callsOf(this.client, ImageServiceService, messages);
    return this;
  }

  /** Ends the runtime's process and resolves when it is gone. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    this.client?.close();
    if (!child || hasEnded(child)) return;
    child.kill(signal);
    await eventually(`the runtime has ended after ${signal}`, () => hasEnded(child));
  }

  /**
   * Removes every sandbox, ends the runtime and deletes its directory. The processes of a runtime that has ended are
   * found without it. Errors: the runtime lives and does not remove them; they have ended all the same.
   */
  async dispose(): Promise<void> {
    const isServing = this.child !== undefined && !hasEnded(this.child) && this.client !== undefined;
    try {
      if (!isServing) return;
      const { items } = await this.runtime.listPodSandbox({});
      for (const { id } of items) await this.runtime.removePodSandbox({ podSandboxId: id });
      await this.kill('SIGTERM');
    } finally {
      await this.kill('SIGKILL');
      await endRuntime(this.stateDirectory, this.instance);
      rmSync(this.directory, { recursive: true, force: true, maxRetries: 20 });
    }
  }

  sandboxConfig(name: string, more: DeepPartial<PodSandboxConfig> = {}): PodSandboxConfig {
    return PodSandboxConfig.fromPartial({
      metadata: { name, namespace: 'default', uid: `uid-${name}`, attempt: 0 },
      logDirectory: join(this.logDirectory, name),
      labels: { app: name },
      ...more,
    });
  }

  async sandbox(name: string, more: DeepPartial<PodSandboxConfig> = {}): Promise<string> {
    const { podSandboxId } = await this.runtime.runPodSandbox({ config: this.sandboxConfig(name, more) });
    return podSandboxId;
  }

  /** Creates a container that runs the shell script. */
  async create(podSandboxId: string, script: string, more: DeepPartial<ContainerConfig> = {}): Promise<string> {
    const name = more.metadata?.name ?? 'main';
    const { containerId } = await this.runtime.createContainer({
      podSandboxId,
      config: ContainerConfig.fromPartial({
        metadata: { name, attempt: 0 },
        image: { image: 'host' },
        command: ['/bin/sh', '-c', script],
        logPath: `${name}/0.log`,
        ...more,
      }),
    });
    return containerId;
  }

  async run(podSandboxId: string, script: string, more: DeepPartial<ContainerConfig> = {}): Promise<string> {
    const containerId = await this.create(podSandboxId, script, more);
    await this.runtime.startContainer({ containerId });
    return containerId;
  }

  async status(containerId: string): Promise<ContainerStatus> {
    const { status } = await this.runtime.containerStatus({ containerId });
    if (!status) throw new Error('a container status without a status');
    return status;
  }

  exited(containerId: string): Promise<ContainerStatus> {
    return eventually(`container ${containerId} is exited`, async () => {
      const status = await this.status(containerId);
      return status.state === 'CONTAINER_EXITED' ? status : undefined;
    });
  }

  /** Lines of a container's CRI log as stream, tag and content. */
  logLines(logPath: string): { readonly stream: string; readonly tag: string; readonly content: string }[] {
    return readFileSync(logPath, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const match = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z (stdout|stderr) ([FP]) (.*)$/s.exec(line);
        if (!match) throw new Error(`not a CRI log line: ${JSON.stringify(line)}`);
        return { stream: match[1] ?? '', tag: match[2] ?? '', content: match[3] ?? '' };
      });
  }

  /** Everything a container wrote so far, without what the log adds. */
  output(logPath: string, stream = 'stdout'): string {
    return this.logLines(logPath)
      .filter((line) => line.stream === stream)
      .map(({ tag, content }) => (tag === 'F' ? `${content}\n` : content))
      .join('');
  }

  /** Collects events until the returned function is called. Resolves when the server listens to changes. */
  events(): { readonly seen: ContainerEventResponse[]; readonly stop: () => void } {
    const { path, requestSerialize, responseDeserialize } = RuntimeServiceService.getContainerEvents;
    if (!this.client) throw new Error('the runtime was not started');
    const call = this.client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {});
    const seen: ContainerEventResponse[] = [];
    call.on('data', (event: ContainerEventResponse) => seen.push(event));
    call.on('error', () => undefined);
    return { seen, stop: () => call.cancel() };
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Processes of this machine whose arguments contain the token. Zombies have no arguments. */
export const processesWith = (token: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(token);
      } catch {
        return false;
      }
    });

/**
 * The entries of this machine's root directory that begin with the path, and the lines of its mounts that contain it. Other programs
 * may change the rest of both meanwhile.
 */
export const tracesOf = (path: string): string[] => [
  ...readdirSync('/').filter((name) => `/${name}`.startsWith(path)),
  ...readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(path)),
];

export const isRoot = process.geteuid?.() === 0;
