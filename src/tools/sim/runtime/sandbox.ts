import type {
  DeepPartial,
  NamespaceOption,
  PodSandbox,
  PodSandboxConfig,
  PodSandboxStatus,
} from '../../../generated/runtime/v1/api.js';
import type { SimulatedPodSandbox } from '../world/world-event.js';

/** A sandbox of the simulated runtime, whose replies are created once per state. */
export class SimulatedSandbox {
  /** The description of the sandbox in world events. */
  readonly told: SimulatedPodSandbox;
  readonly isOnNodeNetwork: boolean;
  readonly logDirectory: string;
  #isReady = true;
  #listed: PodSandbox | undefined;
  #status: PodSandboxStatus | undefined;

  constructor(
    readonly id: string,
    readonly config: DeepPartial<PodSandboxConfig>,
    readonly runtimeHandler: string,
    readonly createdAt: bigint,
    /** Its own address; empty on the network of the node. */
    readonly ip: string,
  ) {
    const { uid = '', name = '', namespace = '', attempt = 0 } = config.metadata ?? {};
    this.told = { uid, pod: name, namespace, sandboxId: id, attempt };
    this.isOnNodeNetwork = isOnNodeNetwork(config);
    this.logDirectory = config.logDirectory ?? '';
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  stop(): void {
    this.#isReady = false;
    this.#listed = undefined;
    this.#status = undefined;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.listed.labels;
  }

  /** The item of a list; the same object until something changes. */
  get listed(): PodSandbox {
    return (this.#listed ??= {
      id: this.id,
      metadata: this.#metadata(),
      state: this.#isReady ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
      createdAt: this.createdAt,
      labels: { ...this.config.labels } as Record<string, string>,
      annotations: { ...this.config.annotations } as Record<string, string>,
      runtimeHandler: this.runtimeHandler,
    });
  }

  /** The reply of PodSandboxStatus; the same object until something changes. */
  get status(): PodSandboxStatus {
    const { id, metadata, state, createdAt, labels, annotations, runtimeHandler } = this.listed;
    return (this.#status ??= {
      id,
      metadata,
      state,
      createdAt,
      labels,
      annotations,
      runtimeHandler,
      // A stopped sandbox has no network; the runtime does not report the node's.
      network: { ip: this.#isReady ? this.ip : '', additionalIps: [] },
      linux: { namespaces: { options: this.#namespaceOptions() } },
    });
  }

  #metadata() {
    const { uid, pod: name, namespace, attempt } = this.told;
    return { name, uid, namespace, attempt };
  }

  #namespaceOptions(): NamespaceOption {
    const options = this.config.linux?.securityContext?.namespaceOptions ?? {};
    return {
      network: options.network ?? 'POD',
      pid: options.pid ?? 'POD',
      ipc: options.ipc ?? 'POD',
      targetId: options.targetId ?? '',
      usernsOptions: undefined,
    };
  }
}

export const isOnNodeNetwork = (config: DeepPartial<PodSandboxConfig>): boolean =>
  config.linux?.securityContext?.namespaceOptions?.network === 'NODE';
