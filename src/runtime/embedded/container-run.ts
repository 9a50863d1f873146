import { readFileSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { ContainerEventType } from '../../generated/runtime/v1/api.js';
import { errorText } from '../../model/cri-error.js';
import type { Logger } from '../../streams/ports.js';
import { delayMs, nowNs } from './clock.js';
import { killAll } from './confinement.js';
import { logPathOf, type Container } from './container.js';
import { enterArguments } from './enter.js';
import type { Isolation } from './isolation.js';
import { claimOf, forbidStart, ioFiles, launch, mainProcess, startErrorOf } from './launcher.js';
import { LogWriter } from './log-writer.js';
import { environmentOf } from './payload.js';
import { bootId, isAlive, sendSignal, sessionProcesses, type ProcessId } from './process-tree.js';
import type { Sandboxes } from './sandboxes.js';
import type { ContainerRecord, StateStore } from './state-store.js';

/** Output that arrives after the payload's end must come through pipes that nobody can hold open any more. */
const SUPERVISOR_DEADLINE_MS = 5_000;
const UNKNOWN_EXIT = { exitCode: 255, reason: 'Unknown' } as const;

/** The time in a container's life between CREATED and EXITED, across restarts of the runtime. */
export class ContainerRun {
  private closed = false;

  constructor(
    private readonly isolation: Isolation,
    private readonly sandboxes: Sandboxes,
    private readonly store: StateStore<ContainerRecord>,
    private readonly log: Logger,
    private readonly onChange: (container: Container, change: ContainerEventType) => void,
  ) {}

  update(container: Container, change: Partial<ContainerRecord>): void {
    container.record = { ...container.record, ...change };
    this.store.save(container.record);
  }

  /** Resolves when the payload runs; rejects with the reason when it does not, and the container is EXITED then. */
  async start(container: Container): Promise<void> {
    this.update(container, { state: 'starting', attempts: container.record.attempts + 1 });
    const startError = await this.launch(container).catch(errorText);
    if (startError !== undefined) {
      container.startError = startError;
      await killAll(container.confinement);
      await this.finish(container);
      throw new Error(startError);
    }
    this.becomeRunning(container, nowNs());
    void container.supervisorExit?.then(() => this.finish(container));
  }

  /** Resolves with the reason when nothing runs. */
  private async launch(container: Container): Promise<string | undefined> {
    const { config, sandbox, confinement } = container;
    const { mounts, devPoints = [], user } = container.record;
    container.cgroup?.create();
    this.applyLimits(container);
    container.logWriter = this.logWriter(container);
    container.logWriter.open();
    const own = mounts.length > 0;
    const adjustment = config.linux?.resources?.oomScoreAdj;
    const launched = await launch(
      {
        ioDirectory: this.ioDirectory(container),
        supervisorJoin: this.sandboxes.supervisorJoin(sandbox),
        confinement,
        enter: enterArguments(this.isolation, sandbox.kinds, sandbox.record.holder?.pid, own),
        payload: {
          command: [...config.command, ...config.args],
          environment: environmentOf(config, user, sandbox.config.hostname),
          workingDirectory: config.workingDir || '/',
          user,
          mounts,
          devPoints,
          scratchDirectory: join(this.ioDirectory(container), 'dev'),
          oomScoreAdjustment: adjustment === undefined ? undefined : Number(adjustment),
        },
      },
      this.isolation,
    );
    container.supervisorExit = launched.supervisorExit;
    return launched.startError;
  }

  /** Goes on with a container of an earlier runtime; resolves when its state is right. */
  async adopt(container: Container): Promise<void> {
    const { record } = container;
    if (record.state === 'exited') return container.ended.resolve();
    if (record.state === 'created') return;
    const io = this.ioDirectory(container);
    if (record.state === 'starting' && forbidStart(io)) return this.update(container, { state: 'created' });
    let claim = claimOf(io);
    // A supervisor that was first needs a moment between making the file and filling it.
    for (let tries = 0; typeof claim === 'string' && tries < 100 && record.bootId === bootId(); tries += 1) {
      await delayMs(10);
      claim = claimOf(io);
    }
    container.logWriter = this.logWriter(container);
    try {
      container.logWriter.open();
    } catch (error) {
      this.log.warn(
        { containerId: container.id, error: errorText(error) },
        'container log could not be opened, will retry',
      );
    }
    if (record.state === 'starting') {
      if (typeof claim !== 'string') await this.payloadOrEnd(container, claim);
      const claimedAt = statSync(ioFiles(io).claim, { bigint: true }).mtimeNs;
      this.becomeRunning(container, claimedAt > container.createdAt ? claimedAt : container.createdAt);
    } else this.watch(container);
    if (!this.hasSupervisor(container) || this.exitCode(container) !== undefined) await this.finish(container);
  }

  /** A start that the last runtime did not see through: waits until the payload runs or has ended. */
  private async payloadOrEnd(container: Container, supervisor: ProcessId): Promise<void> {
    for (let tries = 0; tries < 200 && isAlive(supervisor); tries += 1) {
      if (mainProcess(supervisor, container.sandbox.kinds.has('pid'))) return;
      await delayMs(10);
    }
  }

  checkAlive(container: Container): void {
    if (!this.hasSupervisor(container)) void this.finish(container);
  }

  /** Puts the limits of the config in force as far as possible, and keeps what is not. */
  applyLimits(container: Container): void {
    const resources = container.config.linux?.resources;
    if (!resources) return;
    container.notEnforced = container.cgroup?.limit(resources) ?? ['no limit is enforced: no cgroups'];
    if (container.notEnforced.length > 0)
      this.log.debug({ containerId: container.id, notEnforced: container.notEnforced }, 'limits that are not enforced');
  }

  /** From now on ends are left to the next runtime. */
  close(): void {
    this.closed = true;
  }

  /** Lets go of log and watcher; the container itself is untouched. */
  release(container: Container): void {
    container.watcher?.close();
    container.logWriter?.close();
    delete container.watcher;
    delete container.logWriter;
  }

  private ioDirectory({ id, record }: Container): string {
    return join(this.store.directory(id), `io-${record.attempts}`);
  }

  private becomeRunning(container: Container, startedAt: bigint): void {
    const claim = claimOf(this.ioDirectory(container));
    const supervisor = typeof claim === 'string' ? undefined : claim;
    const main = supervisor && mainProcess(supervisor, container.sandbox.kinds.has('pid'));
    this.update(container, {
      state: 'running',
      startedAt: String(startedAt),
      ...(supervisor && { supervisor }),
      ...(main && { main }),
    });
    this.watch(container);
    this.onChange(container, 'CONTAINER_STARTED_EVENT');
  }

  private logWriter(container: Container): LogWriter {
    return new LogWriter({
      rawDirectory: this.ioDirectory(container),
      checkpointPath: join(this.store.directory(container.id), `log-checkpoint-${container.record.attempts}`),
      logPath: logPathOf(container),
      fallocate: this.isolation.tools.get('fallocate'),
      log: this.log,
    });
  }

  private watch(container: Container): void {
    const look = (): void => {
      container.logWriter?.poke();
      if (this.exitCode(container) !== undefined) void this.finish(container);
    };
    try {
      container.watcher = watch(this.ioDirectory(container), { persistent: false }, (_event, name) => {
        if (name === 'exit') look();
        else container.logWriter?.poke();
      });
      container.watcher.on('error', () => undefined);
    } catch (error) {
      this.log.warn(
        { containerId: container.id, error: String(error) },
        'no inotify watch is left, looking twice a second',
      );
      const timer = setInterval(() => {
        if (container.record.state !== 'running' || !container.logWriter) clearInterval(timer);
        else look();
      }, 500).unref();
    }
    look();
  }

  private hasSupervisor({ record }: Container): boolean {
    return record.bootId === bootId() && record.supervisor !== undefined && isAlive(record.supervisor);
  }

  /** The written exit code; undefined until it is written as a whole. */
  private exitCode(container: Container): number | undefined {
    try {
      const text = readFileSync(ioFiles(this.ioDirectory(container)).exit, 'utf8');
      return text.endsWith('\n') ? Number.parseInt(text, 10) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Ends what is left of the container, completes its log, and makes it EXITED. Runs once. */
  private finish(container: Container): Promise<void> {
    if (this.closed) return Promise.resolve();
    container.finishing ??= this.finishOnce(container).catch((error: unknown) =>
      this.log.error(
        { containerId: container.id, error: String(error) },
        'the end of a container could not be handled',
      ),
    );
    return container.finishing;
  }

  private async finishOnce(container: Container): Promise<void> {
    const sameBoot = container.record.bootId === bootId();
    if (sameBoot && !(await killAll(container.confinement)))
      this.log.error({ containerId: container.id, pids: container.confinement.pids() }, 'processes survive SIGKILL');
    if (sameBoot) await this.supervisorGone(container);
    await container.logWriter?.finish();
    const end = this.howItEnded(container);
    container.confinement.remove();
    this.release(container);
    try {
      this.update(container, { state: 'exited', ...end });
    } finally {
      // Even when it could not be written down: the next runtime comes to the same end from the same files.
      container.ended.resolve();
      this.onChange(container, 'CONTAINER_STOPPED_EVENT');
    }
  }

  private async supervisorGone(container: Container): Promise<void> {
    const claim = claimOf(this.ioDirectory(container));
    const supervisor = container.record.supervisor ?? (typeof claim === 'string' ? undefined : claim);
    if (!supervisor) return;
    const wasKilled = !isAlive(supervisor) && this.exitCode(container) === undefined;
    // A killed supervisor cannot wait for its two relays any more, so their session is looked at instead.
    const gone = (): boolean => (wasKilled ? sessionProcesses(supervisor.pid).length === 0 : !isAlive(supervisor));
    for (let waitedMs = 0; !gone() && waitedMs < SUPERVISOR_DEADLINE_MS; waitedMs += 5) await delayMs(5);
    if (gone()) return;
    for (const pid of sessionProcesses(supervisor.pid)) sendSignal(pid, 'SIGKILL');
  }

  private howItEnded(container: Container): Partial<ContainerRecord> {
    const io = ioFiles(this.ioDirectory(container));
    const exitCode = this.exitCode(container);
    const startedAt = BigInt(container.record.startedAt ?? 0);
    if (container.record.startedAt === undefined)
      return {
        exitCode: 128,
        reason: 'StartError',
        message: container.startError ?? startErrorOf(io.directory),
        finishedAt: String(nowNs()),
      };
    if (exitCode === undefined) {
      const message = container.supervisorExit
        ? "the container's supervisor was killed; the exit code is not known"
        : 'the container ended while the runtime was not running; its exit code is not known';
      return { ...UNKNOWN_EXIT, message, finishedAt: String(nowNs()) };
    }
    const writtenAt = statSync(io.exit, { bigint: true }).mtimeNs;
    const finishedAt = String(writtenAt > startedAt ? writtenAt : startedAt);
    const isStartError = exitCode === 128 && hasFile(io.startError);
    if (isStartError) return { exitCode, reason: 'StartError', message: startErrorOf(io.directory), finishedAt };
    if (exitCode === 137 && container.cgroup?.wasOutOfMemory()) return { exitCode, reason: 'OOMKilled', finishedAt };
    return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt };
  }
}

const hasFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
