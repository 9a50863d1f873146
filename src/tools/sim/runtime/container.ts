import type {
  Container,
  ContainerConfig,
  ContainerState,
  ContainerStatus,
  DeepPartial,
  ImageSpec,
  LinuxContainerResources,
  Mount,
} from '../../../generated/runtime/v1/api.js';
import type { InstanceBehaviour } from '../world/behaviour.js';
import type { SimulatedInstance } from '../world/world-event.js';
import type { SimulatedSandbox } from './sandbox.js';

/** The end of an instance. */
export interface ContainerEnd {
  readonly at: bigint;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
}

/** The end that the runtime reports of a container whose end it has not seen. */
export const UNKNOWN_END = { exitCode: 255, reason: 'Unknown', message: '' } as const;

/** The inputs of a container's creation. */
export interface ContainerMaking {
  readonly id: string;
  readonly sandbox: SimulatedSandbox;
  readonly config: DeepPartial<ContainerConfig>;
  readonly createdAt: bigint;
  /** The same on the scheduler's clock, in milliseconds. */
  readonly createdAtMs: number;
  /** The runtime's name of the image. */
  readonly image: { readonly id: string; readonly name: string; readonly ref: string };
  readonly behaviour: InstanceBehaviour;
}

/** A container of the simulated runtime, whose replies are created once per state. */
export class SimulatedContainer {
  readonly id: string;
  readonly sandbox: SimulatedSandbox;
  readonly behaviour: InstanceBehaviour;
  /** The description of the container in world events. */
  readonly told: SimulatedInstance;
  readonly logPath: string;
  readonly mounts: readonly Mount[];
  /** StartContainer is pending. */
  isStarting = false;
  /** RemoveContainer is pending, or done. */
  isRemoved = false;
  /** The stop signal has been sent. */
  isAskedToStop = false;
  /** Called when it ends. */
  readonly whenExited = new Set<() => void>();
  /** The time of its start on the scheduler's clock, in milliseconds; undefined before. */
  startedAtMs: number | undefined;
  /** The same of its end. */
  endedAtMs: number | undefined;
  #resources: LinuxContainerResources | undefined;
  #isStatusLost = false;
  #startedAt = 0n;
  #end: ContainerEnd | undefined;
  #listed: Container | undefined;
  #status: ContainerStatus | undefined;

  constructor(private readonly making: ContainerMaking) {
    const { id, sandbox, config, behaviour } = making;
    const { name: container = '', attempt = 0 } = config.metadata ?? {};
    const { uid, pod, namespace, sandboxId } = sandbox.told;
    this.id = id;
    this.sandbox = sandbox;
    this.behaviour = behaviour;
    const image = config.image?.userSpecifiedImage ?? '';
    this.told = { uid, pod, namespace, container, containerId: id, sandboxId, attempt, image };
    this.logPath = config.logPath && sandbox.logDirectory ? `${sandbox.logDirectory}/${config.logPath}` : '';
    this.mounts = (config.mounts ?? []).map(wholeMount);
    this.#resources = config.linux?.resources && wholeResources(config.linux.resources);
  }

  get state(): ContainerState {
    if (this.#end) return 'CONTAINER_EXITED';
    if (this.#isStatusLost) return 'CONTAINER_UNKNOWN';
    return this.#startedAt > 0n ? 'CONTAINER_RUNNING' : 'CONTAINER_CREATED';
  }

  get createdAtMs(): number {
    return this.making.createdAtMs;
  }

  get isRunning(): boolean {
    return this.state === 'CONTAINER_RUNNING';
  }

  get labels(): Readonly<Record<string, string>> {
    return this.listed.labels;
  }

  get annotations(): Readonly<Record<string, string>> {
    return this.listed.annotations;
  }

  /** What it has; undefined if its creation named nothing. */
  get resources(): LinuxContainerResources | undefined {
    return this.#resources;
  }

  /** It is given other resources. A value that is not named stays. */
  updated(resources: DeepPartial<LinuxContainerResources> = {}): void {
    this.#resources = wholeResources({ ...this.#resources, ...resources });
    this.changed();
  }

  started(at: bigint, atMs: number): void {
    this.#startedAt = at;
    this.startedAtMs = atMs;
    this.changed();
  }

  ended(end: ContainerEnd, atMs?: number): void {
    this.#end = end;
    this.endedAtMs = atMs ?? this.endedAtMs;
    this.changed();
  }

  /** The records of its start and of its end are lost: it counts as created. */
  forgetStart(): void {
    this.#startedAt = 0n;
    this.startedAtMs = undefined;
    this.endedAtMs = undefined;
    this.#end = undefined;
    this.changed();
  }

  /** Every record of its status is lost, that of its creation included: its state is unknown until it is stopped. */
  loseStatus(): void {
    this.forgetStart();
    this.#isStatusLost = true;
  }

  /** The item of a list; the same object until something changes. */
  get listed(): Container {
    const { id, sandbox, config, createdAt, image } = this.making;
    return (this.#listed ??= {
      id,
      podSandboxId: sandbox.id,
      metadata: this.#metadata(),
      image: this.#imageSpec(image.id),
      imageRef: image.id,
      imageId: image.id,
      state: this.state,
      createdAt: this.#isStatusLost ? 0n : createdAt,
      labels: { ...config.labels } as Record<string, string>,
      annotations: { ...config.annotations } as Record<string, string>,
    });
  }

  /** The reply of ContainerStatus; the same object until something changes. */
  get status(): ContainerStatus {
    const { id, config, createdAt, image } = this.making;
    const { labels, annotations } = this.listed;
    const end = this.#end;
    return (this.#status ??= {
      id,
      metadata: this.#metadata(),
      state: this.state,
      createdAt: this.#isStatusLost ? 0n : createdAt,
      startedAt: this.#startedAt,
      finishedAt: end?.at ?? 0n,
      exitCode: end?.exitCode ?? (this.#isStatusLost ? UNKNOWN_END.exitCode : 0),
      reason: end?.reason ?? (this.#isStatusLost ? UNKNOWN_END.reason : ''),
      message: end?.message ?? '',
      image: this.#imageSpec(image.name),
      imageRef: image.ref,
      imageId: image.id,
      labels,
      annotations,
      mounts: [...this.mounts],
      logPath: this.logPath,
      resources: this.#resources && { linux: this.#resources },
      user: undefined,
      stopSignal: config.stopSignal ?? 'RUNTIME_DEFAULT',
    });
  }

  private changed(): void {
    this.#listed = undefined;
    this.#status = undefined;
  }

  #metadata() {
    const { container: name, attempt } = this.told;
    return { name, attempt };
  }

  #imageSpec(image: string): ImageSpec {
    const userSpecifiedImage = this.making.config.image?.userSpecifiedImage ?? '';
    return { image, annotations: {}, userSpecifiedImage, runtimeHandler: '', imageRef: '' };
  }
}

const wholeResources = ({
  hugepageLimits = [],
  unified,
  ...rest
}: DeepPartial<LinuxContainerResources>): LinuxContainerResources => {
  const amount = (value: bigint | number | string | undefined): bigint => BigInt(value ?? 0n);
  return {
    cpuPeriod: amount(rest.cpuPeriod),
    cpuQuota: amount(rest.cpuQuota),
    cpuShares: amount(rest.cpuShares),
    memoryLimitInBytes: amount(rest.memoryLimitInBytes),
    oomScoreAdj: amount(rest.oomScoreAdj),
    cpusetCpus: rest.cpusetCpus ?? '',
    cpusetMems: rest.cpusetMems ?? '',
    hugepageLimits: hugepageLimits.map(({ pageSize = '', limit }) => ({ pageSize, limit: amount(limit) })),
    unified: { ...unified } as Record<string, string>,
    memorySwapLimitInBytes: amount(rest.memorySwapLimitInBytes),
  };
};

const wholeMount = ({ containerPath = '', hostPath = '', ...rest }: DeepPartial<Mount>): Mount => ({
  containerPath,
  hostPath,
  readonly: rest.readonly ?? false,
  selinuxRelabel: rest.selinuxRelabel ?? false,
  propagation: rest.propagation ?? 'PROPAGATION_PRIVATE',
  uidMappings: [],
  gidMappings: [],
  recursiveReadOnly: rest.recursiveReadOnly ?? false,
  image: undefined,
  imageSubPath: rest.imageSubPath ?? '',
});
