import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@grpc/grpc-js';
import {
  ContainerConfig,
  PodSandboxConfig,
  type ContainerStatus,
  type ExecSyncResponse,
} from '../../../src/generated/runtime/v1/api.js';
import { injectFaults, type Faults } from '../../../src/runtime/embedded/machine/machine.js';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../../../src/runtime/embedded/server.js';
import { seededRandom, type SeededRandom } from '../../../src/tools/sim/world/seeded-random.js';
import { faultPlan } from './faults.js';
import {
  clientOf,
  eventually,
  isRoot,
  processesWith,
  runtimeCalls,
  tracesOf,
  type RuntimeCalls,
} from './runtime-under-test.js';

const LINES = 40;
const GATE = 'gate';

interface Subject {
  readonly token: string;
  readonly id: string;
  readonly sandboxId: string;
}

/**
 * The runtime in this process, with containers that must come through: in each run faults are put in while some of the usual calls are
 * made, then taken out, and all has to become as if there had been none.
 */
export class FaultStage {
  private readonly directory = mkdtempSync(join(tmpdir(), 'rx-faults-'));
  private readonly stateDirectory = join(this.directory, 'state');
  private readonly socketPath = join(this.directory, 'rt.sock');
  private readonly prefix = `${this.directory}-token`;
  private readonly logLines: string[] = [];
  /** A path that the machine does not have. */
  private readonly absent = `/rx-faults-${process.pid}`;
  private embedded: EmbeddedRuntime | undefined;
  private client!: Client;
  private runtime!: RuntimeCalls;
  private steady!: Subject & { readonly pid: number; readonly startedAt: bigint };
  private runs = 0;
  readonly failed = new Map<string, number>();
  /** The longest real time from the end of the faults until the run has found all as it should be, with what it does for that. */
  longestRecoveryMs = 0;

  async open(): Promise<this> {
    execFileSync('mkfifo', [join(this.directory, 'never')]);
    await this.start();
    const sandboxId = await this.sandbox('steady');
    const subject = await this.container(sandboxId, 'steady', this.lasting());
    await this.runtime.startContainer({ containerId: subject.id });
    const { startedAt } = await this.status(subject.id);
    const [pid = 0] = await this.processes(subject.token, 1);
    this.steady = { ...subject, pid, startedAt };
    return this;
  }

  async close(): Promise<void> {
    injectFaults(null);
    for (const { id } of (await this.runtime.listPodSandbox({})).items)
      await this.runtime.removePodSandbox({ podSandboxId: id });
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** One run. Errors: what is not as it should be, with the seed, the faults and the runtime's last lines. */
  async run(seed: number): Promise<void> {
    const random = seededRandom(`faults/${seed}`);
    const plan = faultPlan(random.fork('plan'), this.stateDirectory);
    const done: string[] = [];
    this.logLines.length = 0;
    try {
      await this.scene(random, plan.faults, done);
    } catch (error) {
      injectFaults(null);
      const counts = JSON.stringify(Object.fromEntries(countsOf(plan.failed)));
      const words = this.logLines.slice(-40).join('\n');
      throw new Error(`seed ${seed} (${plan.text}), ${done.join(', ')}\n${counts}\n${String(error)}\n${words}`, {
        cause: error,
      });
    } finally {
      for (const [access, count] of countsOf(plan.failed))
        this.failed.set(access, (this.failed.get(access) ?? 0) + count);
    }
  }

  private async scene(random: SeededRandom, faults: Faults, done: string[]): Promise<void> {
    this.runs += 1;
    const name = `run-${this.runs}`;
    const pod = await this.sandbox(name);
    const gate = this.gate(name);
    const ending = await this.container(pod, `${name}-ending`, this.ending(gate.path));
    const doomed = await this.container(pod, `${name}-doomed`, this.lasting());
    const made = await this.container(pod, `${name}-made`, this.lasting());
    for (const { id } of [ending, doomed]) await this.runtime.startContainer({ containerId: id });
    const more: { podSandboxId?: string } = {};
    const steps: Record<string, () => Promise<unknown>> = {
      start: () => this.runtime.startContainer({ containerId: made.id }),
      end: async () => gate.open(),
      stop: () => this.runtime.stopContainer({ containerId: doomed.id, timeout: 1n }),
      remove: () => this.runtime.removeContainer({ containerId: doomed.id }),
      pod: async () => {
        more.podSandboxId = await this.sandbox(`${name}-more`);
      },
      unpod: async () => more.podSandboxId && this.runtime.removePodSandbox({ podSandboxId: more.podSandboxId }),
      exec: async () => expectExec(await this.exec(this.steady.id, 'echo out; exit 3')),
      look: async () => {
        await this.runtime.listContainers({});
        await this.runtime.listContainerStats({});
        await this.runtime.containerStats({ containerId: this.steady.id });
        expectSteady(await this.status(this.steady.id), this.steady);
      },
      reopen: () => this.runtime.reopenContainerLog({ containerId: this.steady.id }),
      restart: async () => {
        await this.stop();
        await this.start();
      },
    };
    const chosen = Object.keys(steps).filter((step) => random.chance(step === 'restart' ? 0.5 : 0.6));
    const order = shuffled(chosen, random);
    injectFaults(faults);
    const under: Promise<unknown>[] = [];
    for (const step of order) {
      const result = steps[step]!().then(
        () => done.push(step),
        (error: unknown) => {
          if (error instanceof Violation) throw error;
          done.push(`${step}: ${String(error).slice(0, 120)}`);
        },
      );
      under.push(result);
      // Some of them meet each other; a restart is alone, or calls would go to a runtime that is not there.
      if (step === 'restart' || random.chance(0.7)) await Promise.race([result, pause(700)]);
    }
    await pause(random.pick([0, 20, 200]));
    injectFaults(null);
    const endOfFaults = performance.now();
    await Promise.all(under);
    if (!this.embedded) await this.start();
    await this.settle({ pod, name, ending, doomed, made, gate, order });
    this.longestRecoveryMs = Math.max(this.longestRecoveryMs, performance.now() - endOfFaults);
  }

  /** What an agent goes on to ask for, until all is as it should be. */
  private async settle(scene: {
    readonly pod: string;
    readonly name: string;
    readonly ending: Subject;
    readonly doomed: Subject;
    readonly made: Subject;
    readonly gate: { readonly open: () => void; readonly close: () => void };
    readonly order: readonly string[];
  }): Promise<void> {
    const { pod, name, ending, doomed, made, gate, order } = scene;
    expectSteady(await this.status(this.steady.id), this.steady);
    const pids = await this.processes(this.steady.token, 1);
    if (pids[0] !== this.steady.pid) throw new Violation(`steady is process ${pids[0]} and was ${this.steady.pid}`);
    expectExec(await this.exec(this.steady.id, 'echo out; exit 3'));

    gate.open();
    const ended = await eventually('the one that ends is EXITED', async () => {
      const status = await this.status(ending.id);
      return status.state === 'CONTAINER_EXITED' ? status : undefined;
    });
    gate.close();
    if (ended.exitCode !== 7) throw new Violation(`exit code ${ended.exitCode} ${ended.reason} ${ended.message}`);
    this.expectWholeLog(ended.logPath);

    const isReady = (await this.runtime.podSandboxStatus({ podSandboxId: pod })).status?.state === 'SANDBOX_READY';
    if (!isReady) throw new Violation('the pod of the run is not ready');
    const status = await this.status(made.id);
    if (status.state === 'CONTAINER_CREATED') await this.runtime.startContainer({ containerId: made.id });
    else if (status.state !== 'CONTAINER_RUNNING' || !order.includes('start'))
      throw new Violation(`made is ${status.state} ${status.exitCode} ${status.reason} ${status.message}`);
    expectExec(
      await this.exec(
        made.id,
        isRoot ? `ls ${this.absent}/directory/state > /dev/null && echo out; exit 3` : 'echo out; exit 3',
      ),
    );
    await this.processes(made.token, 1);

    const touched = order.includes('stop') || order.includes('remove');
    if (!touched && (await this.status(doomed.id)).state !== 'CONTAINER_RUNNING')
      throw new Violation('doomed has ended');
    if (!touched) await this.processes(doomed.token, 1);
    await this.runtime.stopContainer({ containerId: doomed.id, timeout: 0n }).catch(ignoreNotFound);
    await this.processes(doomed.token, 0);
    await this.runtime.removeContainer({ containerId: doomed.id });

    const pods = (await this.runtime.listPodSandbox({})).items.filter(
      ({ metadata }) => metadata?.name === `${name}-more`,
    );
    for (const { id } of pods) await this.runtime.removePodSandbox({ podSandboxId: id });
    if (pods.length > 1) throw new Violation('two pods of one name');
    await eventually('a half-made pod is gone', () => readdirSync(join(this.stateDirectory, 'sandboxes')).length === 2);
    await this.runtime.removePodSandbox({ podSandboxId: pod });
    await this.expectNothingLeft();
  }

  private async expectNothingLeft(): Promise<void> {
    const tokens = await eventually('no process is left', () => {
      const pids = processesWith(this.prefix);
      return pids.length === 1 ? pids : undefined;
    });
    if (tokens[0] !== this.steady.pid) throw new Violation('steady has gone');
    const left = {
      containers: readdirSync(join(this.stateDirectory, 'containers')),
      sandboxes: readdirSync(join(this.stateDirectory, 'sandboxes')),
      unreadable: ['containers', 'sandboxes'].filter((kind) =>
        existsSync(join(this.stateDirectory, `${kind}-unreadable`)),
      ),
    };
    const wanted = { containers: [this.steady.id], sandboxes: [this.steady.sandboxId], unreadable: [] };
    if (JSON.stringify(left) !== JSON.stringify(wanted)) throw new Violation(`left: ${JSON.stringify(left)}`);
    const traces = [...tracesOf(this.absent), ...tracesOf(this.directory)];
    if (traces.length > 0) throw new Violation(`left on the machine: ${traces.join()}`);
    await eventually('no helper of the runtime is left', () => {
      const helpers = processesWith(`${this.stateDirectory}/`).filter((pid) => pid !== this.steady.pid);
      // The supervisor of the one that lasts, and the holder of its pod where there is one.
      return helpers.every((pid) => {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return words.includes(this.steady.id) || words.includes(this.steady.sandboxId);
      });
    });
  }

  /** Every line once, in order. */
  private expectWholeLog(path: string): void {
    const lines = readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ').slice(3).join(' '));
    const wanted = ['up', ...Array.from({ length: LINES }, (_, index) => `line ${index + 1}`)];
    if (lines.join() !== wanted.join()) throw new Violation(`log: ${lines.join()}`);
  }

  private async start(): Promise<void> {
    const say =
      (level: string) =>
      (fields: object, message: string): void =>
        void this.logLines.push(`${level} ${message} ${JSON.stringify(fields)}`);
    const log = { debug: () => undefined, info: () => undefined, warn: say('warn'), error: say('error') };
    this.embedded = await startEmbeddedRuntime({
      socketPath: this.socketPath,
      stateDirectory: this.stateDirectory,
      log,
    });
    this.client = clientOf(this.socketPath);
    this.runtime = runtimeCalls(this.client);
  }

  private async stop(): Promise<void> {
    const { embedded } = this;
    this.embedded = undefined;
    this.client.close();
    await embedded?.close();
  }

  private lasting(): string {
    return `read word < ${join(this.directory, 'never')}`;
  }

  private ending(gate: string): string {
    return `echo up; read word < ${gate}; i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo line $i; done; exit 7`;
  }

  /** A named pipe that lets what reads from it go on once it has been opened. */
  private gate(name: string): { readonly path: string; readonly open: () => void; readonly close: () => void } {
    const path = join(this.directory, `${name}-${GATE}`);
    execFileSync('mkfifo', [path]);
    let file: number | undefined;
    return {
      path,
      open: () => {
        if (file !== undefined) return;
        file = openSync(path, 'r+');
        writeSync(file, 'go\n');
      },
      close: () => {
        if (file !== undefined) closeSync(file);
        rmSync(path);
      },
    };
  }

  private async sandbox(name: string): Promise<string> {
    const { podSandboxId } = await this.runtime.runPodSandbox({
      config: PodSandboxConfig.fromPartial({
        metadata: { name, namespace: 'default', uid: `uid-${name}`, attempt: 0 },
        logDirectory: join(this.directory, 'logs', name),
      }),
    });
    return podSandboxId;
  }

  private async container(sandboxId: string, name: string, script: string): Promise<Subject> {
    const token = `${this.prefix}-${name}-`;
    const { containerId } = await this.runtime.createContainer({
      podSandboxId: sandboxId,
      config: ContainerConfig.fromPartial({
        metadata: { name, attempt: 0 },
        image: { image: 'host' },
        command: ['/bin/sh', '-c', script, token],
        logPath: `${name}.log`,
        mounts: isRoot ? [{ hostPath: this.directory, containerPath: `${this.absent}/directory` }] : [],
      }),
    });
    return { token, id: containerId, sandboxId };
  }

  private exec(containerId: string, script: string): Promise<ExecSyncResponse> {
    return this.runtime.execSync({ containerId, cmd: ['/bin/sh', '-c', script], timeout: 20n });
  }

  private async status(containerId: string): Promise<ContainerStatus> {
    const { status } = await this.runtime.containerStatus({ containerId });
    if (!status) throw new Violation('a container status without a status');
    return status;
  }

  /** Waits until exactly `count` processes carry the token. */
  private processes(token: string, count: number): Promise<readonly number[]> {
    return eventually(`${count} processes with ${token}`, () => {
      const found = processesWith(token);
      return found.length === count ? found : undefined;
    });
  }
}

/** Something healthy was hurt; anything else that goes wrong while there are faults is theirs. */
class Violation extends Error {
  override readonly name = 'Violation';
}

const expectExec = ({ exitCode, stdout }: ExecSyncResponse): void => {
  if (exitCode !== 3 || stdout.toString() !== 'out\n') throw new Violation(`exec: ${exitCode} ${stdout.toString()}`);
};

const expectSteady = ({ state, startedAt }: ContainerStatus, steady: { readonly startedAt: bigint }): void => {
  if (state !== 'CONTAINER_RUNNING' || startedAt !== steady.startedAt) throw new Violation(`steady is ${state}`);
};

const ignoreNotFound = (error: { readonly code?: number }): void => {
  if (error.code !== 5) throw error as Error;
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const shuffled = <T>(items: readonly T[], random: SeededRandom): T[] =>
  items
    .map((item) => ({ item, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);

const countsOf = (words: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
};
