import { basename, join } from 'node:path';
import type { ContainerEventType } from '../../../generated/runtime/v1/api.js';
import { errorText } from '../../../model/cri/cri-error.js';
import type { Logger } from '../../../streams/ports/logger.js';
import { delayMs, nowNs } from '../machine/clock.js';
import { killAll } from '../confinement/confinement.js';
import { endsWithClient, logPathOf, type Container } from './container.js';
import { containerEnd } from './container-end.js';
import { ContainerInput } from '../launch/container-input.js';
import { enterArguments } from '../sandboxes/enter.js';
import type { Isolation } from '../confinement/isolation.js';
import {
  claimOf,
  exitCodeOf,
  forbidStart,
  ioFiles,
  launch,
  mainProcess,
  NotBegun,
  startErrorOf,
  wasNeverBegun,
  type Launched,
} from '../launch/launcher.js';
import { LogWriter } from './log-writer.js';
import { errnoOf, readIfThere, statSync, watch } from '../machine/machine.js';
import { hasReadonlyRoot } from '../mounts/mounts.js';
import { environmentOf } from '../launch/payload.js';
import {
  bootId,
  isAlive,
  sendSignal,
  sessionProcesses,
  usesPath,
  type ProcessId,
} from '../confinement/process-tree.js';
import { RETRY_MS, untilDone } from '../machine/retry.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import type { ContainerRecord, StateStore } from '../state/state-store.js';
import { terminalProblem } from '../launch/terminal.js';

/**
 * The limit for output after the end of the payload. After it the runtime closes the pipes, even if another process
 * holds them open.
 */
const SUPERVISOR_DEADLINE_MS = 5_000;

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

  /** Saves a change before it is made. Errors: it cannot be saved, and must not be made. */
  private saveBefore(container: Container, change: Partial<ContainerRecord>): Promise<void> {
    return this.store.save(container, (record) => ({ ...record, ...change }));
  }

  /** Saves a change after it was made; resolves when others can see it, after the first attempt to save it. */
  private saveAfter(container: Container, change: Partial<ContainerRecord>): Promise<void> {
    return this.store.saveEventually(container, (record) => ({ ...record, ...change }));
  }

  /**
   * Resolves when the payload runs; rejects with the reason when it does not. The container is EXITED then, or CREATED
   * as before if its own process was never reached because the machine was short of a resource.
   */
  async start(container: Container): Promise<void> {
    await this.saveBefore(container, { state: 'starting', attempts: container.record.attempts + 1 });
    try {
      const { isReady, failure, supervisorExit } = await this.launch(container);
      container.supervisorExit = supervisorExit;
      if (!isReady) await this.startFailed(container, failure);
      else
        await this.untilItSucceeds(container, 'cannot read yet whether the container was started', () =>
          this.becomeRunning(container, nowNs()),
        );
    } catch (error) {
      container.startError = errorText(error);
      if (error instanceof NotBegun || errnoOf(error) !== '') await this.backToCreated(container);
      else await this.finish(container);
      throw error;
    }
    void container.supervisorExit?.then(() => this.finish(container));
  }

  /** Errors: always, with the reason. */
  private async startFailed(container: Container, failure: string | undefined): Promise<never> {
    const io = this.ioDirectory(container);
    const why = await this.untilItSucceeds(container, 'cannot read why a container did not start', async () => {
      // Its processes are ended first, so that their output does not change any more.
      const isGone = await killAll(container.confinement);
      if (isGone) await this.supervisorGone(container);
      return failure === undefined
        ? { text: startErrorOf(io), neverBegun: isGone && wasNeverBegun(io) }
        : { text: failure, neverBegun: false };
    });
    throw why?.neverBegun ? new NotBegun(why.text) : new Error(why?.text);
  }

  private async backToCreated(container: Container): Promise<void> {
    this.release(container);
    delete container.supervisorExit;
    delete container.startError;
    await this.saveAfter(container, { state: 'created' });
  }

  /** Retries until the attempt succeeds or the runtime is closed; then the next runtime continues. */
  private untilItSucceeds<T>(
    container: Container,
    what: string,
    attempt: () => T | Promise<T>,
  ): Promise<T | undefined> {
    const fields = { containerId: container.id };
    return untilDone(attempt, { what, fields, log: this.log, isOver: () => this.closed });
  }

  /** Errors: no process could be started; the machine cannot make a terminal. */
  private async launch(container: Container): Promise<Launched> {
    const { config, sandbox, confinement } = container;
    const problem = config.tty ? terminalProblem(this.isolation) : undefined;
    if (problem !== undefined) throw new Error(problem);
    const { mounts, covers = [], points = [], user } = container.record;
    container.cgroup?.create();
    this.applyLimits(container);
    container.logWriter = this.logWriter(container);
    container.logWriter.open();
    const readonlyRoot = hasReadonlyRoot(config, sandbox.kinds);
    // Mounts that are added on the machine later would be writable, so they do not propagate into the container unless
    // a volume requests that.
    const takesMounts = config.mounts.some(({ propagation }) => propagation === 'PROPAGATION_HOST_TO_CONTAINER');
    const own = readonlyRoot && !takesMounts ? 'private' : readonlyRoot || mounts.length > 0 ? 'slave' : 'none';
    const adjustment = config.linux?.resources?.oomScoreAdj;
    return launch(
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
          mounts:
            own === 'none'
              ? undefined
              : {
                  ...{ mounts, covers, points, readonlyRoot },
                  scratchDirectory: join(this.ioDirectory(container), 'mounts'),
                  resolvConf: this.sandboxes.resolvConf(sandbox),
                },
          oomScoreAdjustment: adjustment === undefined ? undefined : Number(adjustment),
          isCommand: false,
        },
        hasInput: config.stdin,
        hasTerminal: config.tty,
      },
      this.isolation,
    );
  }

  /** Continues a container of an earlier runtime; resolves when its state is right. */
  async adopt(container: Container): Promise<void> {
    if (container.record.state === 'exited') return container.ended.resolve();
    if (container.record.state === 'created') return;
    await this.untilItSucceeds(container, 'cannot read the state of a container', () => this.adoptOnce(container));
    await container.finishing;
  }

  /** Errors: the state of the machine cannot be read; the record stays as it is until then. */
  private async adoptOnce(container: Container): Promise<void> {
    const { record } = container;
    const io = this.ioDirectory(container);
    // A loss of power may have taken the claim of a start, so a start of an earlier boot counts as a run.
    if (record.state === 'starting' && !isOfEarlierBoot(record)) {
      const supervisor = forbidStart(io) ? undefined : await this.claimant(container);
      // No supervisor claimed the start, and the claim is now forbidden.
      if (!supervisor) return this.saveAfter(container, { state: 'created' });
      await this.payloadOrEnd(container, supervisor);
    }
    container.logWriter ??= this.logWriter(container);
    try {
      container.logWriter.open();
    } catch (error) {
      this.log.warn(
        { containerId: container.id, error: errorText(error) },
        'container log could not be opened, will retry',
      );
    }
    if (record.state === 'starting') {
      const claimedAt = statSync(ioFiles(io).claim, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n;
      await this.becomeRunning(container, claimedAt > container.createdAt ? claimedAt : container.createdAt);
    } else this.watch(container);
    if (container.config.stdin) this.input(container).closeIfTaken();
    if (!this.hasSupervisor(container) || exitCodeOf(this.ioDirectory(container)) !== undefined)
      void this.finish(container);
  }

  /** The supervisor that claimed the start; it needs a moment between making the file and filling it. */
  private async claimant(container: Container): Promise<ProcessId | undefined> {
    for (let tries = 0; ; tries += 1) {
      const claim = claimOf(this.ioDirectory(container));
      if (typeof claim !== 'string') return claim;
      if (tries === 100) return undefined;
      await delayMs(10);
    }
  }

  /** Continues a start that the previous runtime began: waits until the payload runs or has ended. */
  private async payloadOrEnd(container: Container, supervisor: ProcessId): Promise<void> {
    for (let tries = 0; tries < 200 && isAlive(supervisor); tries += 1) {
      if (this.mainProcess(container, supervisor)) return;
      await delayMs(10);
    }
  }

  /** Detects the end of a supervisor that no other event reports. A failed check is repeated the next time. */
  checkAlive(container: Container): void {
    try {
      if (!this.hasSupervisor(container)) void this.finish(container);
    } catch (error) {
      this.log.debug({ containerId: container.id, error: errorText(error) }, 'cannot read the state of a supervisor');
    }
  }

  /** Applies the limits of the config, and keeps the texts of those that this machine does not enforce. */
  applyLimits(container: Container): void {
    const resources = container.config.linux?.resources;
    if (!resources) return;
    container.notEnforced = container.cgroup?.limit(resources) ?? ['no limit is enforced: there are no cgroups'];
    if (container.notEnforced.length > 0)
      this.log.debug(
        { containerId: container.id, notEnforced: container.notEnforced },
        'some limits of a container are not enforced',
      );
  }

  /** Stops handling ends of containers; the next runtime handles them. */
  close(): void {
    this.closed = true;
  }

  /** Closes log and watcher; the container itself keeps running. */
  release(container: Container): void {
    container.watcher?.close();
    container.logWriter?.close();
    container.input?.release();
    delete container.watcher;
    delete container.input;
    delete container.isWatched;
    delete container.logWriter;
  }

  /** The raw files of its output. */
  outputFiles(container: Container): { readonly stdout: string; readonly stderr: string } {
    return ioFiles(this.ioDirectory(container));
  }

  /** The input of a container with `stdin`. */
  input(container: Container): ContainerInput {
    return (container.input ??= new ContainerInput(this.ioDirectory(container), endsWithClient(container)));
  }

  /** The device of its terminal, if it has one. Errors: it cannot be read. */
  terminal(container: Container): string | undefined {
    return /^(\/dev\/.*)\n/.exec(readIfThere(ioFiles(this.ioDirectory(container)).terminal) ?? '')?.[1];
  }

  private ioDirectory({ id, record }: Container): string {
    return join(this.store.directory(id), `io-${record.attempts}`);
  }

  private async becomeRunning(container: Container, startedAt: bigint): Promise<void> {
    const claim = isOfEarlierBoot(container.record) ? 'unclaimed' : claimOf(this.ioDirectory(container));
    const supervisor = typeof claim === 'string' ? undefined : claim;
    const main = supervisor && this.mainProcess(container, supervisor);
    await this.saveAfter(container, {
      state: 'running',
      startedAt: String(startedAt),
      ...(supervisor && { supervisor }),
      ...(main && { main }),
    });
    if (this.closed) return;
    this.watch(container);
    this.onChange(container, 'CONTAINER_STARTED_EVENT');
  }

  private mainProcess({ sandbox, config }: Container, supervisor: ProcessId): ProcessId | undefined {
    return mainProcess(supervisor, { entersPidNamespace: sandbox.kinds.has('pid'), hasTerminal: config.tty });
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
    if (container.isWatched || isOfEarlierBoot(container.record)) return;
    container.isWatched = true;
    let lookLater: NodeJS.Timeout | undefined;
    const look = (): void => {
      container.logWriter?.poke();
      try {
        if (exitCodeOf(this.ioDirectory(container)) !== undefined) void this.finish(container);
      } catch {
        lookLater ??= setTimeout(() => {
          lookLater = undefined;
          if (container.record.state === 'running' && !this.closed) look();
        }, RETRY_MS).unref();
      }
    };
    const lookOften = (error: unknown): void => {
      this.log.warn(
        { containerId: container.id, error: String(error) },
        'no inotify watch is free; the files of the container are checked twice a second',
      );
      const timer = setInterval(() => {
        if (container.record.state !== 'running' || !container.logWriter) clearInterval(timer);
        else look();
      }, 500).unref();
    };
    try {
      container.watcher = watch(this.ioDirectory(container), { persistent: false }, (_event, name) => {
        if (name === 'exit') look();
        else container.logWriter?.poke();
      });
      container.watcher.once('error', lookOften);
    } catch (error) {
      lookOften(error);
    }
    look();
  }

  private hasSupervisor({ record }: Container): boolean {
    return !isOfEarlierBoot(record) && record.supervisor !== undefined && isAlive(record.supervisor);
  }

  /**
   * Ends the remaining processes of the container, completes its log, and makes it EXITED. Runs once and retries until
   * done.
   */
  private finish(container: Container): Promise<void> {
    if (this.closed) return Promise.resolve();
    container.finishing ??= this.untilItSucceeds(container, 'the end of a container could not be handled', () =>
      this.finishOnce(container),
    );
    return container.finishing;
  }

  private async finishOnce(container: Container): Promise<void> {
    const sameBoot = !isOfEarlierBoot(container.record);
    if (sameBoot && !(await killAll(container.confinement)))
      this.log.error({ containerId: container.id, pids: container.confinement.pids() }, 'processes survive SIGKILL');
    if (sameBoot) await this.supervisorGone(container);
    await container.logWriter?.finish();
    if (this.closed) return;
    const end = containerEnd(container, this.ioDirectory(container));
    await container.confinement.remove();
    if (this.closed) return;
    this.release(container);
    await this.saveAfter(container, { state: 'exited', ...end });
    container.ended.resolve();
    this.onChange(container, 'CONTAINER_STOPPED_EVENT');
  }

  private async supervisorGone(container: Container): Promise<void> {
    const claim = claimOf(this.ioDirectory(container));
    const supervisor = container.record.supervisor ?? (typeof claim === 'string' ? undefined : claim);
    if (!supervisor) return;
    const wasKilled = !isAlive(supervisor) && exitCodeOf(this.ioDirectory(container)) === undefined;
    const attempt = `${container.id}/${basename(this.ioDirectory(container))}/`;
    const session = (): number[] => sessionProcesses(supervisor, (pid) => usesPath(pid, attempt));
    // A killed supervisor cannot wait for its two relays, so the runtime reads their session instead.
    const gone = (): boolean => (wasKilled ? session().length === 0 : !isAlive(supervisor));
    for (let waitedMs = 0; !gone() && waitedMs < SUPERVISOR_DEADLINE_MS; waitedMs += 5) await delayMs(5);
    if (gone()) return;
    for (const pid of session()) sendSignal(pid, 'SIGKILL');
  }
}

/** No process of such a container can run. */
const isOfEarlierBoot = (record: ContainerRecord): boolean => record.bootId !== bootId();
