import { defer, delay, map, of, type Observable, type SchedulerLike, Subject, throwError, timer } from 'rxjs';
import type {
  ContainerEventResponse,
  ContainerEventType,
  ContainerState,
  ContainerStats,
  ContainerStatus,
  PodSandboxStatus,
} from '../../src/generated/runtime/v1/api.js';
import { CriError } from '../../src/model/cri/cri-error.js';
import type { CriCall, RuntimeService } from '../../src/streams/ports/runtime-service.js';
import type { ImageService } from '../../src/streams/ports/image-service.js';

/** How the instances of one container behave, one after the other; the last is repeated. */
export type Behaviour = readonly {
  readonly exitsAfterMs?: number;
  readonly exitCode?: number;
  readonly stopsAfterMs?: number;
}[];

interface FakeContainer {
  readonly id: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly attempt: number;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly createdAt: number;
  state: ContainerState;
  startedAt: number;
  finishedAt: number;
  exitCode: number;
}
interface FakeSandbox {
  readonly id: string;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly attempt: number;
  readonly labels: Record<string, string>;
  readonly createdAt: number;
  readonly linux: PodSandboxStatus['linux'];
  isReady: boolean;
}

export interface FakeRuntime {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** What happened: `<ms> <what> <name>`, in order. */
  readonly history: string[];
  readonly containers: ReadonlyMap<string, FakeContainer>;
  readonly sandboxes: ReadonlyMap<string, FakeSandbox>;
  /** When all sandboxes were listed, in milliseconds. */
  readonly listings: readonly number[];
  /** When those of one pod were, in milliseconds. */
  readonly reads: readonly number[];
  /** Breaks the stream of events; what happens until it is opened again is never sent. */
  readonly breakEvents: () => void;
}

const statusOf = (ready: Ready) => ({
  status: {
    conditions: [
      { type: 'RuntimeReady', status: ready.runtime, reason: 'Test', message: 'as the test says' },
      { type: 'NetworkReady', status: ready.network, reason: 'Test', message: 'as the test says' },
    ],
  },
  info: {},
  runtimeHandlers: [],
  features: undefined,
});

interface Ready {
  readonly runtime: boolean;
  readonly network: boolean;
}

const NANOS = 1_000_000n;
const nanos = (ms: number): bigint => BigInt(Math.round(ms)) * NANOS;

/**
 * A container runtime in memory and in virtual time. Every call takes `latencyMs`. Containers run until they are stopped,
 * unless their behaviour says otherwise.
 */
export const fakeRuntime = (
  scheduler: SchedulerLike,
  {
    behaviours = {},
    latencyMs = 1,
    tellsEvents = true,
    ready = () => ({ runtime: true, network: true }),
    updateProblem = () => undefined,
    memoryUsage = 0n,
  }: {
    readonly behaviours?: Readonly<Record<string, Behaviour>>;
    readonly latencyMs?: number;
    readonly tellsEvents?: boolean;
    /** What the runtime says of itself at a time. */
    readonly ready?: (atMs: number) => Ready;
    /** Why an update of a container fails at a time. Default: it does not. */
    readonly updateProblem?: (atMs: number) => string | undefined;
    /** The bytes that each container uses. */
    readonly memoryUsage?: bigint;
  } = {},
): FakeRuntime => {
  const containers = new Map<string, FakeContainer>();
  const sandboxes = new Map<string, FakeSandbox>();
  const history: string[] = [];
  const listings: number[] = [];
  const reads: number[] = [];
  let event$ = new Subject<ContainerEventResponse>();
  const breakEvents = () => {
    const broken$ = event$;
    event$ = new Subject();
    broken$.error(new CriError('unavailable', 'GetContainerEvents', 'the connection broke'));
  };
  let ids = 0;

  const say = (what: string) => history.push(`${scheduler.now()} ${what}`);
  /** Creation times differ even within a millisecond, as those of a real runtime do. */
  const stamp = () => scheduler.now() + ids * 1e-6;

  const answer = <T>(make: () => T): Observable<T> =>
    defer(() => of(undefined).pipe(delay(latencyMs, scheduler))).pipe(map(make));
  const found = <T>(entries: ReadonlyMap<string, T>, id: string | undefined, call: string): T => {
    const entry = entries.get(id ?? '');
    if (!entry) throw new CriError('not-found', call, `${call}: there is no ${id}`);
    return entry;
  };
  const tell = (sandboxId: string, what: 'CREATED' | 'STARTED' | 'STOPPED', containerId = sandboxId) => {
    const sandbox = sandboxes.get(sandboxId);
    const containerEventType: ContainerEventType = `CONTAINER_${what}_EVENT`;
    if (tellsEvents && sandbox)
      event$.next({
        ...{ containerId, containerEventType, createdAt: nanos(scheduler.now()) },
        podSandboxStatus: sandboxStatus(sandbox),
      } as ContainerEventResponse);
  };
  const behaviourOf = ({ name, attempt }: FakeContainer) => {
    const behaviour = behaviours[name] ?? [];
    return behaviour[Math.min(attempt, behaviour.length - 1)] ?? {};
  };
  const exit = (container: FakeContainer, exitCode: number) => {
    if (container.state !== 'CONTAINER_RUNNING') return;
    Object.assign(container, { state: 'CONTAINER_EXITED', exitCode, finishedAt: scheduler.now() });
    say(`exit ${container.name} ${exitCode}`);
    tell(container.sandboxId, 'STOPPED', container.id);
  };
  const matches = (labels: Record<string, string>, selector: Record<string, unknown> = {}) =>
    Object.entries(selector).every(([key, value]) => labels[key] === value);

  const sandboxStatus = (sandbox: FakeSandbox): PodSandboxStatus => ({
    id: sandbox.id,
    metadata: { name: sandbox.name, namespace: sandbox.namespace, uid: sandbox.uid, attempt: sandbox.attempt },
    state: sandbox.isReady ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
    createdAt: nanos(sandbox.createdAt),
    network: { ip: '10.0.0.1', additionalIps: [] },
    linux: sandbox.linux,
    labels: sandbox.labels,
    annotations: {},
    runtimeHandler: '',
  });
  const containerStatus = (container: FakeContainer) =>
    ({
      id: container.id,
      metadata: { name: container.name, attempt: container.attempt },
      state: container.state,
      createdAt: nanos(container.createdAt) + BigInt(Number(container.id.slice(1))),
      startedAt: nanos(container.startedAt),
      finishedAt: nanos(container.finishedAt),
      exitCode: container.exitCode,
      image: { image: 'host', annotations: {}, userSpecifiedImage: 'host', runtimeHandler: '' },
      imageRef: 'host',
      reason: container.state === 'CONTAINER_EXITED' ? (container.exitCode === 0 ? 'Completed' : 'Error') : '',
      message: '',
      labels: container.labels,
      annotations: container.annotations,
      mounts: [],
      logPath: '',
    }) as unknown as ContainerStatus;

  const unexpected = (name: string) => () =>
    throwError(() => new CriError('unimplemented', name, `${name} is not implemented`));

  const runtime: RuntimeService = {
    version: () =>
      answer(() => ({ version: '0.1.0', runtimeName: 'fake', runtimeVersion: '1', runtimeApiVersion: 'v1' })),
    status: () => answer(() => statusOf(ready(scheduler.now()))),
    runtimeConfig: unexpected('RuntimeConfig'),
    updateRuntimeConfig: unexpected('UpdateRuntimeConfig'),
    updatePodSandboxResources: unexpected('UpdatePodSandboxResources'),
    updateContainerResources: ({ containerId, linux }) =>
      answer(() => {
        const { name } = found(containers, containerId, 'UpdateContainerResources');
        const problem = updateProblem(scheduler.now());
        if (problem !== undefined) throw new CriError('unknown', 'UpdateContainerResources', problem);
        say(`update ${name} ${linux?.cpuShares ?? 0} ${linux?.memoryLimitInBytes ?? 0}`);
        return {};
      }),
    containerStats: ({ containerId }) =>
      answer(() => {
        found(containers, containerId, 'ContainerStats');
        return { stats: { memory: { usageBytes: { value: memoryUsage } } } as ContainerStats };
      }),
    reopenContainerLog: unexpected('ReopenContainerLog'),
    execSync: unexpected('ExecSync'),
    checkpointContainer: unexpected('CheckpointContainer'),
    listPodSandbox: ({ filter }) => {
      if (filter === undefined) listings.push(scheduler.now());
      else if (Object.keys(filter.labelSelector ?? {}).length > 0) reads.push(scheduler.now());
      return answer(() => ({
        items: [...sandboxes.values()]
          .filter(
            (sandbox) => matches(sandbox.labels, filter?.labelSelector) && (filter?.state ? sandbox.isReady : true),
          )
          .map((sandbox) => ({ ...sandboxStatus(sandbox) })),
      }));
    },
    listContainers: ({ filter }) =>
      answer(() => ({
        containers: [...containers.values()]
          .filter((container) => matches(container.labels, filter?.labelSelector))
          .filter(({ state }) => (filter?.state ? state === filter.state.state : true))
          .map((container) => ({ ...containerStatus(container), podSandboxId: container.sandboxId })),
      })),
    podSandboxStatus: ({ podSandboxId }) =>
      answer(() => ({
        status: sandboxStatus(found(sandboxes, podSandboxId, 'PodSandboxStatus')),
        info: {},
        containersStatuses: [],
        timestamp: 0n,
      })),
    containerStatus: ({ containerId }) =>
      answer(() => ({ status: containerStatus(found(containers, containerId, 'ContainerStatus')), info: {} })),
    runPodSandbox: ({ config }) =>
      answer(() => {
        const { uid = '', name = '', namespace = '', attempt = 0 } = config?.metadata ?? {};
        const id = `s${++ids}`;
        const labels = { ...config?.labels } as Record<string, string>;
        const options = config?.linux?.securityContext?.namespaceOptions;
        const linux = { namespaces: { options } } as PodSandboxStatus['linux'];
        sandboxes.set(id, { id, uid, name, namespace, attempt, labels, createdAt: stamp(), linux, isReady: true });
        say(`sandbox ${name} ${attempt}`);
        tell(id, 'CREATED');
        tell(id, 'STARTED');
        return { podSandboxId: id };
      }),
    stopPodSandbox: ({ podSandboxId }) =>
      answer(() => {
        const sandbox = found(sandboxes, podSandboxId, 'StopPodSandbox');
        for (const container of containers.values()) if (container.sandboxId === sandbox.id) exit(container, 137);
        if (sandbox.isReady) say(`stop-sandbox ${sandbox.name}`);
        sandbox.isReady = false;
        tell(sandbox.id, 'STOPPED');
        return {};
      }),
    removePodSandbox: ({ podSandboxId = '' }) => answer(() => (sandboxes.delete(podSandboxId), {})),
    createContainer: ({ podSandboxId = '', config }) =>
      answer(() => {
        found(sandboxes, podSandboxId, 'CreateContainer');
        const { name = '', attempt = 0 } = config?.metadata ?? {};
        const alive = [...containers.values()].find(
          (other) => other.sandboxId === podSandboxId && other.name === name && other.state === 'CONTAINER_RUNNING',
        );
        if (alive) throw new CriError('already-exists', 'CreateContainer', `${name} runs already as ${alive.id}`);
        const id = `c${++ids}`;
        containers.set(id, {
          ...{ id, name, attempt, sandboxId: podSandboxId, createdAt: stamp() },
          labels: { ...config?.labels } as Record<string, string>,
          annotations: { ...config?.annotations } as Record<string, string>,
          ...{ state: 'CONTAINER_CREATED', startedAt: 0, finishedAt: 0, exitCode: 0 },
        });
        tell(podSandboxId, 'CREATED', id);
        return { containerId: id };
      }),
    startContainer: ({ containerId }) =>
      answer(() => {
        const container = found(containers, containerId, 'StartContainer');
        Object.assign(container, { state: 'CONTAINER_RUNNING', startedAt: scheduler.now() });
        say(`start ${container.name} ${container.attempt}`);
        tell(container.sandboxId, 'STARTED', container.id);
        const { exitsAfterMs, exitCode = 0 } = behaviourOf(container);
        if (exitsAfterMs !== undefined) scheduler.schedule(() => exit(container, exitCode), exitsAfterMs);
        return {};
      }),
    stopContainer: ({ containerId, timeout = 0n }) =>
      defer(() => {
        const container = found(containers, containerId, 'StopContainer');
        say(`stop ${container.name} ${String(timeout)}`);
        const { stopsAfterMs = 0 } = behaviourOf(container);
        const graceMs = Number(timeout) * 1000;
        return timer(Math.min(stopsAfterMs, graceMs) + latencyMs, scheduler).pipe(
          map(() => {
            exit(container, stopsAfterMs > graceMs ? 137 : 143);
            return {};
          }),
        );
      }),
    removeContainer: ({ containerId = '' }) => answer(() => (containers.delete(containerId), {})),
    containerEvents: () => (tellsEvents ? event$ : unexpected('GetContainerEvents')()),
  };

  const none: CriCall<object, never> = unexpected('images');
  const images: ImageService = {
    imageStatus: () => answer(() => ({ image: HOST_IMAGE, info: {} })),
    pullImage: () => answer(() => ({ imageRef: 'host' })),
    listImages: none,
    removeImage: none,
    imageFsInfo: none,
  };
  return { runtime, images, history, containers, sandboxes, listings, reads, breakEvents };
};

const HOST_IMAGE = {
  ...{
    id: 'host',
    repoTags: ['host:latest'],
    repoDigests: [],
    size: 1n,
    uid: { value: 0n },
    username: '',
    pinned: true,
  },
  spec: undefined,
};
