import { constants } from 'node:os';
import { join } from 'node:path';
import {
  ContainerConfig,
  type Container as CriContainer,
  type ContainerEventType,
  type ContainerFilter,
  type LinuxContainerResources,
  type Signal,
} from '../../generated/runtime/v1/api.js';
import { errorText } from '../../model/cri-error.js';
import type { Logger } from '../../streams/ports.js';
import { nowNs } from './clock.js';
import { cgroupConfinement, killAll, markConfinement } from './confinement.js';
import { containerStatus, listEntry, stateOf, type Container } from './container.js';
import { ContainerRun } from './container-run.js';
import { requireHostImage } from './images.js';
import type { Isolation } from './isolation.js';
import { isAlive, sendSignal, signalProcess, bootId } from './process-tree.js';
import { makePlaceholders, placeholderPaths, planMounts, removePlaceholders } from './mounts.js';
import { alreadyExists, failedPrecondition, invalidArgument, notFound } from './runtime-error.js';
import { hasLabels, newId, type Sandbox, type Sandboxes } from './sandboxes.js';
import { StateStore, type ContainerRecord } from './state-store.js';
import { planUser } from './users.js';

/** How long a killed container may take to be gone. */
const KILL_DEADLINE_MS = 15_000;

const containerName = (config: ContainerConfig, sandboxId: string): string =>
  `${config.metadata?.name}_${sandboxId}_${config.metadata?.attempt}`;

/** The number of a CRI signal; real-time ones are named by their distance from either end. */
const signalNumber = (signal: Signal): number => {
  const realTime = /^SIGRT(MIN|MAX)(?:(?:PLUS|MINUS)(\d+))?$/.exec(signal);
  if (realTime) return realTime[1] === 'MIN' ? 34 + Number(realTime[2] ?? 0) : 64 - Number(realTime[2] ?? 0);
  return (constants.signals as Partial<Record<string, number>>)[signal] ?? constants.signals.SIGTERM;
};

/** A field that the update leaves at its default keeps its value. */
const mergeResources = (
  before: LinuxContainerResources | undefined,
  update: LinuxContainerResources,
): LinuxContainerResources => ({
  ...update,
  cpuPeriod: update.cpuPeriod || (before?.cpuPeriod ?? 0n),
  cpuQuota: update.cpuQuota || (before?.cpuQuota ?? 0n),
  cpuShares: update.cpuShares || (before?.cpuShares ?? 0n),
  memoryLimitInBytes: update.memoryLimitInBytes || (before?.memoryLimitInBytes ?? 0n),
  memorySwapLimitInBytes: update.memorySwapLimitInBytes || (before?.memorySwapLimitInBytes ?? 0n),
  oomScoreAdj: update.oomScoreAdj || (before?.oomScoreAdj ?? 0n),
  cpusetCpus: update.cpusetCpus || (before?.cpusetCpus ?? ''),
  cpusetMems: update.cpusetMems || (before?.cpusetMems ?? ''),
  hugepageLimits: update.hugepageLimits.length > 0 ? update.hugepageLimits : (before?.hugepageLimits ?? []),
  unified: { ...before?.unified, ...update.unified },
});

/** All containers, in memory and on disk: create, start, stop, remove, list, adopt. */
export class Containers {
  private readonly containers = new Map<string, Container>();
  private readonly store: StateStore<ContainerRecord>;
  private readonly idByName = new Map<string, string>();
  private readonly runs: ContainerRun;

  constructor(
    stateDirectory: string,
    private readonly isolation: Isolation,
    private readonly sandboxes: Sandboxes,
    private readonly log: Logger,
    private readonly onChange: (container: Container, change: ContainerEventType) => void,
  ) {
    this.store = new StateStore(join(stateDirectory, 'containers'), 'container.json');
    this.runs = new ContainerRun(isolation, sandboxes, this.store, log, (container, change) => {
      onChange(container, change);
      if (change === 'CONTAINER_STOPPED_EVENT') this.releasePlaceholders(container);
    });
  }

  /** Errors: see docs/embedded-runtime.md; nothing is left behind by a failure. */
  create(sandboxId: string, asked: ContainerConfig): Container {
    const sandbox = this.sandboxes.getReady(sandboxId);
    if (!asked.metadata?.name) throw invalidArgument('config.metadata.name: the name of the container is needed');
    requireHostImage(asked.image);
    if (asked.command.length + asked.args.length === 0)
      throw invalidArgument('the image "host" has no default command: set command in the container');
    const name = containerName(asked, sandboxId);
    const holding = this.idByName.get(name);
    if (holding) throw alreadyExists(`name "${name}" is reserved for "${holding}"`);
    const plan = planMounts(asked, sandbox.kinds, this.isolation);
    // Whoever asks for the status is told what is really there.
    const config = { ...asked, mounts: asked.mounts.filter((mount) => !plan.leftOut.includes(mount)) };
    for (const { containerPath } of plan.leftOut)
      this.log.info({ name, containerPath }, 'a mount is left out: its mount point does not exist on this machine');
    const container = this.fromRecord(
      {
        id: newId(),
        sandboxId,
        createdAt: String(nowNs()),
        config: Buffer.from(ContainerConfig.encode(config).finish()).toString('base64'),
        bootId: bootId(),
        state: 'created',
        mark: String(Math.floor(Math.random() * 2 ** 52) + 2 ** 52),
        attempts: 0,
        placeholders: [],
        mounts: plan.mounts,
        devPoints: plan.devPoints,
        user: planUser(config.linux?.securityContext, {
          uid: process.geteuid?.() ?? 0,
          gid: process.getegid?.() ?? 0,
          groups: process.getgroups?.() ?? [],
          canChange: this.isolation.isRoot && this.isolation.tools.has('setpriv'),
        }),
      },
      sandbox,
    );
    const shared = plan.mounts.flatMap(({ target }) =>
      this.all().flatMap(({ record }) =>
        record.placeholders.filter((path) => target === path || target.startsWith(`${path}/`)),
      ),
    );
    // Written down first: what is made must be found again whatever happens.
    this.runs.update(container, {
      placeholders: [...new Set([...shared, ...placeholderPaths(plan)])].toSorted(),
    });
    try {
      makePlaceholders(plan);
    } catch (error) {
      this.releasePlaceholders(container);
      this.store.remove(container.id);
      throw error;
    }
    this.containers.set(container.id, container);
    this.idByName.set(name, container.id);
    this.onChange(container, 'CONTAINER_CREATED_EVENT');
    return container;
  }

  /** Resolves when the payload runs. Errors: FAILED_PRECONDITION, or why it could not be started; then it is EXITED. */
  async start(id: string): Promise<void> {
    const container = this.get(id);
    if (container.record.state !== 'created')
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

  /** Asks the main process to end, kills everything after `timeoutSeconds`, and resolves when the container is EXITED. */
  async stop(container: Container, timeoutSeconds: number): Promise<void> {
    await container.starting?.catch(() => undefined);
    if (container.record.state !== 'running') return;
    const { main } = container.record;
    if (timeoutSeconds > 0 && !container.finishing) {
      const signal = signalNumber(container.config.stopSignal);
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
      // setTimeout cannot count further than 2^31-1 ms; nobody waits for longer than that.
      timer = setTimeout(() => resolve(false), Math.min(ms, 2_147_483_647));
    });
    const inTime = await Promise.race([container.ended.promise.then(() => true), late]);
    clearTimeout(timer);
    return inTime;
  }

  /** Kills the container if need be and forgets it; its log stays. */
  remove(container: Container): Promise<void> {
    container.removing ??= this.removeOnce(container).finally(() => delete container.removing);
    return container.removing;
  }

  private async removeOnce(container: Container): Promise<void> {
    await this.stop(container, 0);
    this.runs.release(container);
    container.confinement.remove();
    this.containers.delete(container.id);
    this.idByName.delete(container.name);
    this.releasePlaceholders(container);
    this.store.remove(container.id);
    this.onChange(container, 'CONTAINER_DELETED_EVENT');
  }

  /** Takes mount points away that no other container needs; a container that has ended has no mounts any more. */
  private releasePlaceholders(container: Container): void {
    const { placeholders } = container.record;
    if (placeholders.length === 0) return;
    const others = this.all().filter(({ id, record }) => id !== container.id && record.state !== 'exited');
    const stillUsed = new Set(others.flatMap(({ record }) => record.placeholders));
    removePlaceholders(placeholders.filter((path) => !stillUsed.has(path)));
    this.runs.update(container, { placeholders: [] });
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

  /** Where the container's state is kept. */
  directory(id: string): string {
    return this.store.directory(id);
  }

  reopenLog(id: string): void {
    const { logWriter } = this.getRunning(id);
    logWriter?.reopen();
  }

  /** Applies what the machine allows and keeps the new values. */
  updateResources(id: string, resources: LinuxContainerResources | undefined): void {
    const container = this.get(id);
    if (!resources) return;
    const { config } = container;
    container.config = {
      ...config,
      linux: {
        securityContext: config.linux?.securityContext,
        resources: mergeResources(config.linux?.resources, resources),
      },
    };
    if (container.record.state === 'running') this.runs.applyLimits(container);
    this.runs.update(container, {
      config: Buffer.from(ContainerConfig.encode(container.config).finish()).toString('base64'),
    });
  }

  /** Takes over what is on disk; resolves when every container that ended meanwhile is EXITED with its log complete. */
  async adopt(): Promise<void> {
    const ends: Promise<void>[] = [];
    for (const record of this.store.load()) {
      const sandbox = this.sandboxes.find(record.sandboxId);
      if (!sandbox) {
        this.store.remove(record.id);
        continue;
      }
      const container = this.fromRecord(record, sandbox);
      this.containers.set(record.id, container);
      this.idByName.set(container.name, record.id);
      const failed = (error: unknown): void =>
        this.log.error({ containerId: record.id, error: errorText(error) }, 'a container could not be adopted');
      ends.push(this.runs.adopt(container).catch(failed));
    }
    await Promise.all(ends);
    // The runtime before this one may have been killed between the end of a container and what follows it.
    for (const container of this.all()) if (container.record.state === 'exited') this.releasePlaceholders(container);
  }

  /** Notices adopted containers whose supervisor was killed, which nothing else reports. True while there are adopted ones. */
  checkAdopted(): boolean {
    const adopted = this.all().filter(({ record, supervisorExit }) => record.state === 'running' && !supervisorExit);
    for (const container of adopted) this.runs.checkAlive(container);
    return adopted.length > 0;
  }

  /** Stops looking after the containers, which go on running. */
  close(): void {
    this.runs.close();
    for (const container of this.all()) this.runs.release(container);
  }

  private fromRecord(record: ContainerRecord, sandbox: Sandbox): Container {
    const config = ContainerConfig.decode(Buffer.from(record.config, 'base64'));
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
