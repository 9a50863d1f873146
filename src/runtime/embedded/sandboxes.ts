import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import {
  PodSandboxConfig,
  type PodSandbox,
  type PodSandboxFilter,
  type PodSandboxStatus,
} from '../../generated/runtime/v1/api.js';
import { errorText } from '../../model/cri-error.js';
import type { Logger } from '../../streams/ports.js';
import { Cgroup } from './cgroup.js';
import { nowNs } from './clock.js';
import { cgroupConfinement, killAll } from './confinement.js';
import { killHolder, namespacesOf, startHolder } from './holder.js';
import type { Isolation, NamespaceKind } from './isolation.js';
import { forbidStart } from './launcher.js';
import { bootId, isAlive, signalProcess } from './process-tree.js';
import { alreadyExists, failedPrecondition, invalidArgument, notFound } from './runtime-error.js';
import { StateStore, type SandboxRecord } from './state-store.js';

export const newId = (): string => randomBytes(32).toString('hex');

/** Whether every wanted label is there with the wanted value. */
export const hasLabels = (
  labels: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): boolean => Object.entries(wanted).every(([key, value]) => labels[key] === value);

/** The first IPv4 address by which others reach this machine. */
const machineAddress = (): string =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';

export interface Sandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly createdAt: bigint;
  readonly cgroup: Cgroup | undefined;
  /** The namespaces that are the pod's own; empty without a holder. */
  readonly kinds: ReadonlySet<NamespaceKind>;
  readonly name: string;
  readonly address: string;
  record: SandboxRecord;
}

const sandboxName = ({ metadata }: PodSandboxConfig): string =>
  `${metadata?.name}_${metadata?.namespace}_${metadata?.uid}_${metadata?.attempt}`;

/** The pods' outer shells: names, namespaces, cgroups, and their state on disk. Containers are somebody else's. */
export class Sandboxes {
  private readonly sandboxes = new Map<string, Sandbox>();
  private readonly store: StateStore<SandboxRecord>;
  private readonly idByName = new Map<string, string>();
  /** Sandboxes whose holder's end is reported by itself. */
  private readonly ownHolders = new Set<string>();

  constructor(
    stateDirectory: string,
    private readonly isolation: Isolation,
    private readonly log: Logger,
    /** A ready sandbox has lost its holder. */
    private readonly onLost: (sandbox: Sandbox) => void,
  ) {
    this.store = new StateStore(join(stateDirectory, 'sandboxes'), 'sandbox.json');
  }

  /** Makes a sandbox that is ready. Errors: INVALID_ARGUMENT, ALREADY_EXISTS for a name in use. */
  async run(config: PodSandboxConfig, runtimeHandler: string): Promise<Sandbox> {
    const { metadata } = config;
    if (!metadata?.name || !metadata.uid || !metadata.namespace)
      throw invalidArgument('config.metadata: name, namespace and uid of the pod are needed');
    if (runtimeHandler !== '')
      throw invalidArgument(`runtime_handler "${runtimeHandler}": the embedded runtime has only the default one, ""`);
    const name = sandboxName(config);
    const holding = this.idByName.get(name);
    if (holding) throw alreadyExists(`name "${name}" is reserved for "${holding}"`);
    const sandbox = this.fromRecord({
      id: newId(),
      createdAt: String(nowNs()),
      config: Buffer.from(PodSandboxConfig.encode(config).finish()).toString('base64'),
      runtimeHandler,
      bootId: bootId(),
      state: 'creating',
    });
    this.idByName.set(name, sandbox.id);
    try {
      this.store.save(sandbox.record);
      sandbox.cgroup?.child('pod').create();
      if (sandbox.kinds.size > 0) {
        const holder = await startHolder(
          {
            ioDirectory: this.ioDirectory(sandbox),
            config,
            kinds: sandbox.kinds,
            joinScript: this.supervisorJoin(sandbox),
          },
          this.isolation,
        );
        this.ownHolders.add(sandbox.id);
        void holder.exited.then(() => this.holderEnded(sandbox));
        this.update(sandbox, { holder: holder.process });
      }
      this.update(sandbox, { state: 'ready' });
      this.sandboxes.set(sandbox.id, sandbox);
      return sandbox;
    } catch (error) {
      await this.dismantle(sandbox);
      this.forget(sandbox);
      throw error;
    }
  }

  /** Takes over what is on disk. Half-made sandboxes are removed; those of an earlier boot or without holder are not ready. */
  async adopt(): Promise<void> {
    for (const record of this.store.load()) {
      const sandbox = this.fromRecord(record);
      const failed = (error: unknown): void =>
        this.log.error({ sandboxId: record.id, error: errorText(error) }, 'what is left of a pod could not be ended');
      if (record.state === 'creating') {
        forbidStart(this.ioDirectory(sandbox));
        await this.dismantle(sandbox).catch(failed);
        this.forget(sandbox);
        continue;
      }
      this.sandboxes.set(record.id, sandbox);
      this.idByName.set(sandbox.name, record.id);
      if (record.state === 'ready' && !this.isHeld(sandbox)) {
        this.update(sandbox, { state: 'not-ready' });
      }
    }
  }

  /** Looks at every holder that is no child of this process; for the slow check after an adoption. */
  checkHolders(): void {
    for (const sandbox of this.sandboxes.values())
      if (sandbox.record.state === 'ready' && !this.isHeld(sandbox)) this.holderEnded(sandbox);
  }

  /** Whether a ready sandbox's holder is no child of this process. */
  hasAdopted(): boolean {
    return this.all().some(({ id, record }) => record.state === 'ready' && record.holder && !this.ownHolders.has(id));
  }

  /** From now on nothing can be started in the sandbox. False when that was so before. */
  retire(sandbox: Sandbox): boolean {
    if (sandbox.record.state !== 'ready') return false;
    this.update(sandbox, { state: 'not-ready' });
    return true;
  }

  /** Ends everything that is left in a retired sandbox. Stopping twice is fine. */
  async stop(sandbox: Sandbox): Promise<void> {
    await this.dismantle(sandbox);
  }

  /** Forgets a stopped sandbox. */
  remove(sandbox: Sandbox): void {
    sandbox.cgroup?.remove();
    this.forget(sandbox);
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
        ...{ id, metadata, state, createdAt, labels, annotations, runtimeHandler },
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

  private ioDirectory({ id }: Sandbox): string {
    return join(this.store.directory(id), 'io');
  }

  private isHeld({ record, kinds }: Sandbox): boolean {
    if (record.bootId !== bootId()) return false;
    return kinds.size === 0 || (record.holder !== undefined && isAlive(record.holder));
  }

  private holderEnded(sandbox: Sandbox): void {
    if (sandbox.record.state !== 'ready') return;
    this.log.warn({ sandboxId: sandbox.id }, 'the process that holds the pod together has ended');
    this.update(sandbox, { state: 'not-ready' });
    this.onLost(sandbox);
  }

  private async dismantle(sandbox: Sandbox): Promise<void> {
    if (sandbox.record.bootId === bootId()) {
      if (sandbox.record.holder) signalProcess(sandbox.record.holder, 'SIGKILL');
      killHolder(this.ioDirectory(sandbox), sandbox.kinds);
    }
    if (!sandbox.cgroup) return;
    if (!(await killAll(cgroupConfinement(sandbox.cgroup))))
      throw new Error(`processes of pod sandbox "${sandbox.id}" survive SIGKILL: ${sandbox.cgroup.pids().join(', ')}`);
    sandbox.cgroup.remove();
  }

  private forget(sandbox: Sandbox): void {
    this.sandboxes.delete(sandbox.id);
    this.ownHolders.delete(sandbox.id);
    if (this.idByName.get(sandbox.name) === sandbox.id) this.idByName.delete(sandbox.name);
    this.store.remove(sandbox.id);
  }

  private update(sandbox: Sandbox, change: Partial<SandboxRecord>): void {
    sandbox.record = { ...sandbox.record, ...change };
    this.store.save(sandbox.record);
  }

  private fromRecord(record: SandboxRecord): Sandbox {
    const config = PodSandboxConfig.decode(Buffer.from(record.config, 'base64'));
    const { cgroups } = this.isolation;
    return {
      id: record.id,
      config,
      createdAt: BigInt(record.createdAt),
      cgroup: cgroups && Cgroup.ofSandbox(cgroups, config.linux?.cgroupParent ?? '', record.id),
      kinds: namespacesOf(config, this.isolation),
      name: sandboxName(config),
      address: machineAddress(),
      record,
    };
  }
}
