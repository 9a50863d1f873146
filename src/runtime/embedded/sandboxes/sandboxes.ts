import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  PodSandboxConfig,
  type PodSandbox,
  type PodSandboxFilter,
  type PodSandboxStatus,
} from '../../../generated/runtime/v1/api.js';
import { errorText } from '../../../model/cri/cri-error.js';
import type { Logger } from '../../../streams/ports/logger.js';
import { Cgroup, layoutWith } from '../confinement/cgroup.js';
import { nowNs } from '../machine/clock.js';
import { cgroupConfinement, killAll } from '../confinement/confinement.js';
import { killHolder, namespacesOf, resolvConfOf, startHolder } from './holder.js';
import type { Isolation, NamespaceKind } from '../confinement/isolation.js';
import { SHARED_GROUP } from '../machine/instance.js';
import { forbidStart } from '../launch/launcher.js';
import { errnoOf, isThere, networkInterfaces } from '../machine/machine.js';
import { bootId, isAlive, signalProcess } from '../confinement/process-tree.js';
import { untilDone } from '../machine/retry.js';
import { alreadyExists, failedPrecondition, invalidArgument, notFound } from '../runtime-error.js';
import { StateStore, type SandboxRecord } from '../state/state-store.js';

export const newId = (): string => randomBytes(32).toString('hex');

/** Whether all wanted labels have the wanted values. */
export const hasLabels = (
  labels: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): boolean => Object.entries(wanted).every(([key, value]) => labels[key] === value);

/** The first IPv4 address at which other machines reach this one. */
const machineAddress = (): string =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';

export interface Sandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly createdAt: bigint;
  readonly cgroup: Cgroup | undefined;
  /** The pod's own namespaces; empty without a holder. */
  readonly kinds: ReadonlySet<NamespaceKind>;
  readonly name: string;
  readonly address: string;
  /** Fires when it is not ready any more, with an Error as its reason. */
  readonly over: AbortController;
  record: SandboxRecord;
}

const sandboxName = ({ metadata }: PodSandboxConfig): string =>
  `${metadata?.name}_${metadata?.namespace}_${metadata?.uid}_${metadata?.attempt}`;

/** The sandboxes: names, namespaces, cgroups, and their state on disk. `Containers` has the containers. */
export class Sandboxes {
  private readonly sandboxes = new Map<string, Sandbox>();
  private readonly store: StateStore<SandboxRecord>;
  private readonly idByName = new Map<string, string>();
  /** Sandboxes whose holder is a child of this process, which reports its end. */
  private readonly ownHolders = new Set<string>();
  private closed = false;

  constructor(
    stateDirectory: string,
    private readonly isolation: Isolation,
    private readonly log: Logger,
    /** Receives a ready sandbox that has lost its holder. */
    private readonly onLost: (sandbox: Sandbox) => void,
  ) {
    // Containers without the record of their sandbox would be lost.
    const isDurable = ({ state }: SandboxRecord): boolean => state === 'ready';
    this.store = new StateStore(join(stateDirectory, 'sandboxes'), 'sandbox.json', log, isDurable);
  }

  /** Makes a ready sandbox. Errors: INVALID_ARGUMENT, ALREADY_EXISTS for a name in use. */
  async run(config: PodSandboxConfig, runtimeHandler: string): Promise<Sandbox> {
    const { metadata } = config;
    if (!metadata?.name || !metadata.uid || !metadata.namespace)
      throw invalidArgument('config.metadata: expected name, namespace and uid of the pod');
    if (runtimeHandler !== '')
      throw invalidArgument(`runtime_handler "${runtimeHandler}": the embedded runtime has only the default one, ""`);
    const name = sandboxName(config);
    const holding = this.idByName.get(name);
    if (holding) throw alreadyExists(`name "${name}" is reserved for "${holding}"`);
    const { cgroups, instance } = this.isolation;
    const sandbox = this.fromRecord({
      id: newId(),
      createdAt: String(nowNs()),
      config: Buffer.from(PodSandboxConfig.encode(config).finish()).toString('base64'),
      runtimeHandler,
      bootId: bootId(),
      state: 'creating',
      namespaces: [...namespacesOf(config, this.isolation)],
      ...(cgroups && { group: instance.group, tracking: cgroups.tracking }),
    });
    this.idByName.set(name, sandbox.id);
    let holderExited: Promise<unknown> | undefined;
    try {
      this.store.saveNew(sandbox.record);
      sandbox.cgroup?.child('pod').create();
      if (sandbox.kinds.size > 0) {
        const holder = await startHolder(
          {
            ioDirectory: this.ioDirectory(sandbox),
            config,
            kinds: sandbox.kinds,
            joinScript: this.holderJoin(sandbox),
          },
          this.isolation,
        );
        this.ownHolders.add(sandbox.id);
        holderExited = holder.exited;
        await this.saveBefore(sandbox, { holder: holder.process });
      }
      await this.saveBefore(sandbox, { state: 'ready' });
      this.sandboxes.set(sandbox.id, sandbox);
      // It may have ended while the record was written.
      void holderExited?.then(() => this.holderEnded(sandbox));
      return sandbox;
    } catch (error) {
      await this.discard(sandbox);
      throw error;
    }
  }

  /** Resolves after the first try; retries until nothing of the sandbox is left. Its name stays reserved until then. */
  private async discard(sandbox: Sandbox): Promise<void> {
    let tried = (): void => undefined;
    const firstTry = new Promise<void>((resolve) => (tried = resolve));
    const attempt = async (): Promise<void> => {
      try {
        forbidStart(this.ioDirectory(sandbox));
        await this.dismantle(sandbox);
        await this.forget(sandbox);
      } finally {
        tried();
      }
    };
    const fields = { sandboxId: sandbox.id };
    const what = 'cannot end the processes of an incomplete pod';
    void untilDone(attempt, { what, fields, log: this.log, isOver: () => this.closed });
    await firstTry;
  }

  /**
   * Continues the sandboxes on disk. Incomplete sandboxes are removed; those of an earlier boot or without holder are
   * not ready.
   */
  async adopt(): Promise<void> {
    const { entries, broken } = await this.store.load();
    for (const id of broken) this.setAside(id);
    for (const record of entries) {
      const sandbox = this.readable(record);
      if (!sandbox) continue;
      if (record.state === 'creating') {
        this.idByName.set(sandbox.name, record.id);
        await this.discard(sandbox);
        continue;
      }
      this.sandboxes.set(record.id, sandbox);
      this.idByName.set(sandbox.name, record.id);
      // A sandbox whose holder cannot be read stays ready: the slow check reads it again.
      if (record.state === 'ready' && this.isSurelyLost(sandbox)) await this.end(sandbox);
    }
  }

  private readable(record: SandboxRecord): Sandbox | undefined {
    try {
      return this.fromRecord(record);
    } catch (error) {
      if (errnoOf(error) !== '') throw error;
      this.log.error({ sandboxId: record.id, error: errorText(error) }, 'a record cannot be read');
      this.setAside(record.id);
      return undefined;
    }
  }

  /** Its processes are ended as processes without a record. */
  private setAside(id: string): void {
    this.log.error({ sandboxId: id, kept: this.store.setAside(id) }, 'an unreadable record is set aside');
  }

  /** The IDs of all sandboxes, including those that are being made or removed. */
  ids(): ReadonlySet<string> {
    return new Set([...this.sandboxes.keys(), ...this.idByName.values()]);
  }

  /** Checks every holder that is no child of this process; part of the slow check after an adoption. */
  checkHolders(): void {
    for (const sandbox of this.sandboxes.values())
      if (sandbox.record.state === 'ready' && this.isSurelyLost(sandbox)) this.holderEnded(sandbox);
  }

  /** Returns false also if the holder cannot be read; the next check reads it again. */
  private isSurelyLost(sandbox: Sandbox): boolean {
    try {
      return !this.isHeld(sandbox);
    } catch (error) {
      this.log.warn({ sandboxId: sandbox.id, error: errorText(error) }, "cannot read the state of a pod's holder");
      return false;
    }
  }

  /** Resolves when no record is written any more. */
  close(): Promise<void> {
    this.closed = true;
    return this.store.close();
  }

  /** Whether the holder of a ready sandbox is no child of this process. */
  hasAdopted(): boolean {
    return this.all().some(({ id, record }) => record.state === 'ready' && record.holder && !this.ownHolders.has(id));
  }

  /** Forbids further starts in the sandbox at once; resolves when that is saved, with false if it was so before. */
  async retire(sandbox: Sandbox): Promise<boolean> {
    if (sandbox.record.state !== 'ready') return false;
    await this.end(sandbox);
    return true;
  }

  /** Ends all remaining processes of a retired sandbox. A second stop does nothing. */
  async stop(sandbox: Sandbox): Promise<void> {
    await this.dismantle(sandbox);
  }

  /** Removes a stopped sandbox. */
  async remove(sandbox: Sandbox): Promise<void> {
    await sandbox.cgroup?.remove();
    await this.forget(sandbox);
  }

  find(id: string): Sandbox | undefined {
    return this.sandboxes.get(id);
  }

  get(id: string): Sandbox {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox) throw notFound(`pod sandbox "${id}" does not exist`);
    return sandbox;
  }

  getReady(id: string): Sandbox {
    const sandbox = this.get(id);
    if (!this.isHeld(sandbox)) this.holderEnded(sandbox);
    if (sandbox.record.state !== 'ready') throw failedPrecondition(`pod sandbox "${id}" is not ready: it was stopped`);
    return sandbox;
  }

  all(): Sandbox[] {
    return [...this.sandboxes.values()];
  }

  list(filter: PodSandboxFilter | undefined): PodSandbox[] {
    return this.all()
      .map((sandbox) => this.status(sandbox))
      .filter(({ id, state, labels }) => {
        if (!filter) return true;
        if (filter.id !== '' && !id.startsWith(filter.id)) return false;
        return (!filter.state || filter.state.state === state) && hasLabels(labels, filter.labelSelector);
      })
      .map(({ id, metadata, state, createdAt, labels, annotations, runtimeHandler }) => ({
        id,
        metadata,
        state,
        createdAt,
        labels,
        annotations,
        runtimeHandler,
      }));
  }

  status({ id, config, createdAt, record, address }: Sandbox): PodSandboxStatus {
    const options = config.linux?.securityContext?.namespaceOptions;
    return {
      id,
      metadata: config.metadata,
      state: record.state === 'ready' ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
      createdAt,
      network: { ip: address, additionalIps: [] },
      linux: options ? { namespaces: { options } } : undefined,
      labels: config.labels,
      annotations: config.annotations,
      runtimeHandler: record.runtimeHandler,
    };
  }

  /** Shell lines for the processes that must outlive a container: its supervisor, and the pod's holder. */
  supervisorJoin({ cgroup }: Sandbox): string {
    return cgroup?.child('pod').joinScript() ?? ':';
  }

  /** Ends every sandbox whose record was removed, which no later runtime can find. */
  endLost(): Promise<unknown>[] {
    return this.all()
      .filter(({ id }) => this.store.isGone(id))
      .map((sandbox) => this.dismantle(sandbox));
  }

  /** Without cgroups a mark identifies the holder if its record is lost. */
  private holderJoin(sandbox: Sandbox): string {
    const { instance, markCommand } = this.isolation;
    if (sandbox.cgroup || markCommand === undefined) return this.supervisorJoin(sandbox);
    return `${markCommand} ${instance.markOf(sandbox.id)}`;
  }

  private ioDirectory({ id }: Sandbox): string {
    return join(this.store.directory(id), 'io');
  }

  /** The file with the DNS settings of the pod, if it has its own. */
  resolvConf(sandbox: Sandbox): string | undefined {
    const path = resolvConfOf(this.ioDirectory(sandbox));
    return isThere(path) ? path : undefined;
  }

  private isHeld({ record, kinds }: Sandbox): boolean {
    if (record.bootId !== bootId()) return false;
    return kinds.size === 0 || (record.holder !== undefined && isAlive(record.holder));
  }

  private holderEnded(sandbox: Sandbox): void {
    if (this.closed || sandbox.record.state !== 'ready') return;
    this.log.warn({ sandboxId: sandbox.id }, 'the process that holds the pod together has ended');
    void this.end(sandbox);
    this.onLost(sandbox);
  }

  /** Resolves when it is saved that the sandbox is not ready any more; others can see it at once. */
  private end(sandbox: Sandbox): Promise<void> {
    const saved = this.saveAfter(sandbox, { state: 'not-ready' });
    sandbox.over.abort(new Error('the pod has ended'));
    return saved;
  }

  private async dismantle(sandbox: Sandbox): Promise<void> {
    if (sandbox.record.bootId === bootId()) {
      if (sandbox.record.holder) signalProcess(sandbox.record.holder, 'SIGKILL');
      killHolder(this.ioDirectory(sandbox), sandbox.kinds);
    }
    if (!sandbox.cgroup) return;
    if (!(await killAll(cgroupConfinement(sandbox.cgroup))))
      throw new Error(`processes of pod sandbox "${sandbox.id}" survive SIGKILL: ${sandbox.cgroup.pids().join(', ')}`);
    await sandbox.cgroup.remove();
  }

  private async forget(sandbox: Sandbox): Promise<void> {
    // The steps that can fail come first: until then the record stays, and the client can retry.
    await this.store.remove(sandbox.id);
    this.sandboxes.delete(sandbox.id);
    this.ownHolders.delete(sandbox.id);
    if (this.idByName.get(sandbox.name) === sandbox.id) this.idByName.delete(sandbox.name);
  }

  /** Saves a change before it is made. Errors: it cannot be saved, and must not be made. */
  private saveBefore(sandbox: Sandbox, change: Partial<SandboxRecord>): Promise<void> {
    return this.store.save(sandbox, (record) => ({ ...record, ...change }));
  }

  /** Makes a change at once, and saves it. */
  private saveAfter(sandbox: Sandbox, change: Partial<SandboxRecord>): Promise<void> {
    sandbox.record = { ...sandbox.record, ...change };
    return this.store.saveEventually(sandbox, (record) => record);
  }

  private fromRecord(record: SandboxRecord): Sandbox {
    const config = PodSandboxConfig.decode(Buffer.from(record.config, 'base64'));
    return {
      id: record.id,
      config,
      createdAt: BigInt(record.createdAt),
      cgroup: this.cgroupOf(record, config),
      kinds: new Set(record.namespaces ?? namespacesOf(config, this.isolation)),
      name: sandboxName(config),
      address: machineAddress(),
      over: new AbortController(),
      record,
    };
  }

  /** A sandbox that was made without cgroups never gets a group: its processes would not be in it. */
  private cgroupOf({ id, namespaces, group, tracking }: SandboxRecord, config: PodSandboxConfig): Cgroup | undefined {
    const cgroups = tracking ? layoutWith(this.isolation.cgroups, tracking) : this.isolation.cgroups;
    if (!cgroups || (namespaces && group === undefined)) return undefined;
    const place = { parent: config.linux?.cgroupParent ?? '', home: group ?? SHARED_GROUP };
    return Cgroup.ofSandbox(cgroups, place, id);
  }
}
