import { join } from 'node:path';
import {
  ContainerConfig,
  type Container as CriContainer,
  type ContainerEventType,
  type ContainerFilter,
  type LinuxContainerResources,
} from '../../../generated/runtime/v1/api.js';
import { errorText } from '../../../model/cri/cri-error.js';
import type { Logger } from '../../../streams/ports/logger.js';
import { delayMs, nowNs } from '../machine/clock.js';
import { CommandGroups } from './command-groups.js';
import { cgroupConfinement, killAll, markConfinement } from '../confinement/confinement.js';
import { containerStatus, listEntry, stateOf, stopSignalOf, type Container } from './container.js';
import type { ContainerInput } from '../launch/container-input.js';
import { ContainerRun } from './container-run.js';
import { requireHostImage } from '../images/images.js';
import type { Isolation } from '../confinement/isolation.js';
import { mergeResources } from './merge-resources.js';
import { makeMissingSources, planMounts } from '../mounts/mounts.js';
import { isAlive, sendSignal, signalProcess, bootId } from '../confinement/process-tree.js';
import { alreadyExists, failedPrecondition, invalidArgument, notFound } from '../runtime-error.js';
import { errnoOf } from '../machine/machine.js';
import { untilDone } from '../machine/retry.js';
import { hasLabels, newId, type Sandbox, type Sandboxes } from '../sandboxes/sandboxes.js';
import { StateStore, type ContainerRecord } from '../state/state-store.js';
import { planUser } from '../launch/users.js';

/** The time that a killed container may take to end. */
const KILL_DEADLINE_MS = 15_000;
/** The time that the start of the runtime waits for containers whose state cannot be read yet. */
const ADOPTION_MS = 10_000;

const containerName = (config: ContainerConfig, sandboxId: string): string =>
  `${config.metadata?.name}_${sandboxId}_${config.metadata?.attempt}`;

const encoded = (config: ContainerConfig): string =>
  Buffer.from(ContainerConfig.encode(config).finish()).toString('base64');

const decoded = (config: string): ContainerConfig => ContainerConfig.decode(Buffer.from(config, 'base64'));

/** All containers, in memory and on disk: create, start, stop, remove, list, adopt. */
export class Containers {
  private readonly containers = new Map<string, Container>();
  private readonly store: StateStore<ContainerRecord>;
  private readonly idByName = new Map<string, string>();
  private readonly runs: ContainerRun;
  readonly commandGroups = new CommandGroups();
  private closed = false;

  constructor(
    stateDirectory: string,
    private readonly isolation: Isolation,
    private readonly sandboxes: Sandboxes,
    private readonly log: Logger,
    private readonly onChange: (container: Container, change: ContainerEventType) => void,
  ) {
    // A start counts as a run, also if no trace of its process is left; an end that was reported stays the same.
    const isDurable = ({ state }: ContainerRecord): boolean => state === 'starting' || state === 'exited';
    this.store = new StateStore(join(stateDirectory, 'containers'), 'container.json', log, isDurable);
    this.runs = new ContainerRun(isolation, sandboxes, this.store, log, onChange);
  }

  /** Errors: see docs/embedded-runtime.md; a failed call leaves nothing behind. */
  create(sandboxId: string, config: ContainerConfig): Container {
    const sandbox = this.sandboxes.getReady(sandboxId);
    if (!config.metadata?.name) throw invalidArgument('config.metadata.name: expected the name of the container');
    requireHostImage(config.image);
    if (config.command.length + config.args.length === 0)
      throw invalidArgument('the image "host" has no default command: set command in the container');
    const name = containerName(config, sandboxId);
    const holding = this.idByName.get(name);
    if (holding) throw alreadyExists(`name "${name}" is reserved for "${holding}"`);
    const plan = planMounts(config, sandbox.kinds);
    const id = this.newId();
    const container = this.fromRecord(
      {
        id,
        sandboxId,
        createdAt: String(nowNs()),
        config: encoded(config),
        bootId: bootId(),
        state: 'created',
        mark: this.isolation.instance.markOf(id),
        attempts: 0,
        mounts: plan.mounts,
        covers: plan.covers,
        points: plan.points,
        user: planUser(config.linux?.securityContext, {
          uid: process.geteuid?.() ?? 0,
          gid: process.getegid?.() ?? 0,
          groups: process.getgroups?.() ?? [],
          canChange: this.isolation.isRoot && this.isolation.tools.has('setpriv'),
          canForbidPrivileges: this.isolation.tools.has('setpriv'),
          canDropCapabilities: this.isolation.canDropCapabilities,
        }),
      },
      sandbox,
    );
    try {
      // Saved before anything is made, so that the next runtime finds it.
      this.store.saveNew(container.record);
      makeMissingSources(plan);
    } catch (error) {
      this.discard(container);
      throw error;
    }
    this.containers.set(container.id, container);
    this.idByName.set(name, container.id);
    this.onChange(container, 'CONTAINER_CREATED_EVENT');
    return container;
  }

  /** Removes a container that was never returned to a client, as soon as possible. */
  private discard(container: Container): void {
    const fields = { containerId: container.id };
    void untilDone(() => this.store.remove(container.id), {
      what: 'a half-made container could not be removed',
      fields,
      log: this.log,
      isOver: () => this.closed,
    });
  }

  /** An ID whose mark no other container has. */
  private newId(): string {
    const taken = new Set(this.all().map(({ record }) => record.mark));
    for (;;) {
      const id = newId();
      if (!taken.has(this.isolation.instance.markOf(id))) return id;
    }
  }

  /**
   * Resolves when the payload runs. Errors: FAILED_PRECONDITION, or the reason why it could not be started: it is
   * EXITED then, or CREATED as before if a retry may help.
   */
  async start(id: string): Promise<void> {
    const container = this.get(id);
    if (container.record.state !== 'created' || container.starting || container.removing)
      throw failedPrecondition(
        `container "${id}" is in state ${stateOf(container)}, only a created one can be started`,
      );
    this.sandboxes.getReady(container.sandbox.id);
    container.starting = this.runs.start(container);
    try {
      await container.starting;
    } finally {
      delete container.starting;
    }
  }

  /**
   * Sends the stop signal to the main process, kills all processes after `timeoutSeconds`, and resolves when the
   * container is EXITED.
   */
  async stop(container: Container, timeoutSeconds: number): Promise<void> {
    await container.starting?.catch(() => undefined);
    if (container.record.state !== 'running') return;
    const { main } = container.record;
    if (timeoutSeconds > 0 && !container.finishing) {
      const signal = stopSignalOf(container);
      if (!main || !isAlive(main)) for (const pid of container.confinement.pids()) sendSignal(pid, signal);
      else signalProcess(main, signal);
      if (await this.endsWithin(container, timeoutSeconds * 1000)) return;
    }
    await killAll(container.confinement);
    if (await this.endsWithin(container, KILL_DEADLINE_MS)) return;
    const left = container.confinement.pids().join(', ');
    throw new Error(`container "${container.id}" survives SIGKILL (processes: ${left || 'unknown'})`);
  }

  private async endsWithin(container: Container, ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      // The maximum of setTimeout is 2^31-1 ms, some 24 days.
      timer = setTimeout(() => resolve(false), Math.min(ms, 2_147_483_647));
    });
    const inTime = await Promise.race([container.ended.promise.then(() => true), late]);
    clearTimeout(timer);
    return inTime;
  }

  /** Kills the container if it runs, and removes it; its log stays. */
  remove(container: Container): Promise<void> {
    container.removing ??= this.removeOnce(container).finally(() => delete container.removing);
    return container.removing;
  }

  private async removeOnce(container: Container): Promise<void> {
    await this.stop(container, 0);
    this.runs.release(container);
    await container.confinement.remove();
    // The last step that can fail: until then the record stays, and the client can retry.
    await this.store.remove(container.id);
    this.containers.delete(container.id);
    this.idByName.delete(container.name);
    this.onChange(container, 'CONTAINER_DELETED_EVENT');
  }

  find(id: string): Container | undefined {
    return this.containers.get(id);
  }

  get(id: string): Container {
    const container = this.containers.get(id);
    if (!container) throw notFound(`container "${id}" does not exist`);
    return container;
  }

  getRunning(id: string): Container {
    const container = this.get(id);
    const { state, main } = container.record;
    if (state !== 'running' || (main && !isAlive(main))) throw failedPrecondition(`container "${id}" is not running`);
    return container;
  }

  all(): Container[] {
    return [...this.containers.values()];
  }

  ofSandbox(sandboxId: string): Container[] {
    return this.all().filter(({ sandbox }) => sandbox.id === sandboxId);
  }

  list(filter: ContainerFilter | undefined): CriContainer[] {
    return this.all()
      .filter((container) => {
        if (!filter) return true;
        if (filter.id !== '' && !container.id.startsWith(filter.id)) return false;
        if (filter.podSandboxId !== '' && container.sandbox.id !== filter.podSandboxId) return false;
        if (filter.state && filter.state.state !== stateOf(container)) return false;
        return hasLabels(container.config.labels, filter.labelSelector);
      })
      .map(listEntry);
  }

  readonly status = containerStatus;

  /** The directory with the state of the container. */
  directory(id: string): string {
    return this.store.directory(id);
  }

  /** The raw files of the container's output. */
  outputFiles(container: Container): { readonly stdout: string; readonly stderr: string } {
    return this.runs.outputFiles(container);
  }

  /** The input of a container with `stdin`. */
  input(container: Container): ContainerInput {
    return this.runs.input(container);
  }

  /** The device of the container's terminal, if it has one. Errors: it cannot be read. */
  terminal(container: Container): string | undefined {
    return this.runs.terminal(container);
  }

  reopenLog(id: string): void {
    const { logWriter } = this.getRunning(id);
    logWriter?.reopen();
  }

  /** Applies the values that the machine supports, and saves all of them. */
  async updateResources(id: string, resources: LinuxContainerResources | undefined): Promise<void> {
    const container = this.get(id);
    if (!resources) return;
    await this.store.save(container, (record) => {
      const { linux, ...config } = decoded(record.config);
      const merged = mergeResources(linux?.resources, resources);
      const updated = { ...config, linux: { securityContext: linux?.securityContext, resources: merged } };
      return { ...record, config: encoded(updated) };
    });
    container.config = decoded(container.record.config);
    if (container.record.state === 'running') this.runs.applyLimits(container);
  }

  /**
   * Continues all containers on disk; resolves when every container that ended meanwhile is EXITED with a complete log.
   * A container that cannot be read keeps its recorded state until it can be read.
   */
  async adopt(): Promise<void> {
    const { entries, broken } = await this.store.load();
    for (const id of broken) await this.endBroken(id);
    const adoptions = entries.map((record) => this.adoptOne(record));
    await Promise.race([Promise.all(adoptions), delayMs(ADOPTION_MS)]);
  }

  private async adoptOne(record: ContainerRecord): Promise<void> {
    const { id } = record;
    const failed = (error: unknown): void =>
      this.log.error({ containerId: id, error: errorText(error) }, 'a container could not be adopted');
    const sandbox = this.sandboxes.find(record.sandboxId);
    let container: Container;
    try {
      if (!sandbox) throw new Error(`its pod sandbox ${record.sandboxId} is not known any more`);
      container = this.fromRecord(record, sandbox);
    } catch (error) {
      // A failure of the machine is no fault of the record.
      if (errnoOf(error) !== '') throw error;
      failed(error);
      return this.endBroken(id, record.mark);
    }
    this.containers.set(id, container);
    this.idByName.set(container.name, id);
    const adoption = this.runs
      .adopt(container)
      .then(() => this.adoptCommands(container))
      .catch(failed);
    // A stop waits until the start has succeeded or failed.
    if (record.state === 'starting')
      container.starting = adoption.finally(() => {
        delete container.starting;
      });
    await adoption;
  }

  /** Groups that cannot be read now stay until the container ends. */
  private adoptCommands(container: Container): void {
    try {
      this.commandGroups.adopt(container);
    } catch (error) {
      this.log.debug({ containerId: container.id, error: errorText(error) }, 'cannot read the groups of commands');
    }
  }

  /** Ends a container with an unreadable record, and keeps the record for an administrator. */
  private async endBroken(id: string, mark = this.isolation.instance.markOf(id)): Promise<void> {
    const cgroup = this.sandboxes
      .all()
      .map((sandbox) => sandbox.cgroup?.child(id))
      .find((group) => group?.exists());
    const confinement = cgroup ? cgroupConfinement(cgroup) : markConfinement(mark, undefined);
    const pids = confinement.pids();
    if (pids.length > 0) this.log.error({ containerId: id, pids }, 'a container without a readable record is ended');
    await killAll(confinement);
    await confinement.remove();
    this.log.error({ containerId: id, kept: this.store.setAside(id) }, 'an unreadable record is set aside');
  }

  /** The marks of all known containers. */
  marks(): readonly string[] {
    return this.all().map(({ record }) => record.mark);
  }

  /**
   * Detects adopted containers whose supervisor was killed, which no event reports. Returns true while there are
   * adopted containers.
   */
  checkAdopted(): boolean {
    const adopted = this.all().filter(({ record, supervisorExit }) => record.state === 'running' && !supervisorExit);
    for (const container of adopted) this.runs.checkAlive(container);
    return adopted.length > 0;
  }

  /** Stops managing the containers, which keep running; resolves when no record is written any more. */
  async close(): Promise<void> {
    this.closed = true;
    this.runs.close();
    this.commandGroups.close();
    for (const container of this.all()) this.runs.release(container);
    await this.store.close();
  }

  /** Ends every container whose record was removed, which no later runtime can find. */
  endLost(): Promise<unknown>[] {
    return this.all()
      .filter(({ id, record }) => record.state !== 'exited' && this.store.isGone(id))
      .map(({ confinement }) => killAll(confinement));
  }

  private fromRecord(record: ContainerRecord, sandbox: Sandbox): Container {
    const config = decoded(record.config);
    const cgroup = sandbox.cgroup?.child(record.id);
    let resolve = (): void => undefined;
    const promise = new Promise<void>((settle) => (resolve = settle));
    return {
      id: record.id,
      name: containerName(config, sandbox.id),
      sandbox,
      createdAt: BigInt(record.createdAt),
      cgroup,
      confinement: cgroup ? cgroupConfinement(cgroup) : markConfinement(record.mark, this.isolation.markCommand),
      config,
      record,
      notEnforced: [],
      ended: { promise, resolve },
    };
  }
}
