import { errorText } from '../../../model/cri/cri-error.js';
import type {
  ContainerState,
  ContainerStatus,
  ListContainersResponse,
  ListPodSandboxResponse,
} from '../../../generated/runtime/v1/api.js';
import type { ProbeType } from '../../../model/probes/probe-type.js';
import type { EarlierPod, IncidentCommand, IncidentInstance, IncidentProbe } from './incident.js';
import type { RecordedCall } from './open-calls.js';

interface Sandbox {
  readonly uid: string;
  readonly pod: string;
  readonly namespace: string;
}

type Story = { -readonly [Key in keyof Omit<IncidentInstance, 'probes' | 'commands'>]: IncidentInstance[Key] } & {
  readonly sandboxId: string;
  readonly probes: IncidentProbe[];
  readonly commands: IncidentCommand[];
};

const NANOS_PER_MS = 1e6;

/** The instances of containers in the recorded calls and replies. */
export class InstanceLedger {
  /** The offset of the wall clock from the scheduler's clock. */
  wallOffset = 0;
  readonly #startedAt: number;
  readonly #sandboxes = new Map<string, Sandbox>();
  readonly #stories = new Map<string, Story>();
  /** The sandboxes and containers that this agent asked for: a listing may show them before the reply to its request. */
  readonly #asked = new Set<string>();
  /** By `<namespace>/<name>`. */
  readonly #earlier = new Map<string, EarlierPod>();

  /** `startedAt` is the begin of the recording, by the scheduler. */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  called({ port, args, at }: RecordedCall): void {
    const { containerId = '', podSandboxId, config } = (args[0] ?? {}) as Request;
    if (port === 'runtime.runPodSandbox') this.#asked.add(sandboxKey(config?.metadata));
    if (port === 'runtime.createContainer') this.#asked.add(instanceKey(podSandboxId, config?.metadata));
    if (port === 'runtime.stopContainer') this.#stopAsked(this.#stories.get(containerId), at);
    if (port === 'runtime.stopPodSandbox') {
      for (const story of this.#stories.values()) if (story.sandboxId === podSandboxId) this.#stopAsked(story, at);
    }
  }

  replied({ port, args, at }: RecordedCall, value: unknown, now: number): void {
    const request = (args[0] ?? {}) as Request;
    switch (port) {
      case 'runtime.runPodSandbox':
        return this.#sandbox((value as { podSandboxId: string }).podSandboxId, request.config?.metadata);
      case 'runtime.listPodSandbox':
        return (value as ListPodSandboxResponse).items.forEach(({ id, metadata }) => {
          this.#sandbox(id, metadata);
          if (metadata && !this.#asked.has(sandboxKey(metadata)))
            this.#existed(metadata.namespace, metadata.name, false);
        });
      case 'runtime.listContainers':
        return (value as ListContainersResponse).containers.forEach(({ id, podSandboxId, metadata, state }) =>
          this.#instance(id, podSandboxId, metadata, state),
        );
      case 'runtime.createContainer': {
        this.#sandbox(request.podSandboxId ?? '', request.sandboxConfig?.metadata);
        const { containerId } = value as { containerId: string };
        return this.#instance(containerId, request.podSandboxId ?? '', request.config?.metadata);
      }
      case 'runtime.startContainer': {
        const story = this.#stories.get(request.containerId ?? '');
        if (story) Object.assign(story, { startedMs: now, startTookMs: now - at });
        return;
      }
      case 'runtime.containerStatus':
        return this.#status((value as { status?: ContainerStatus }).status, now);
      case 'runtime.execSync': {
        const { exitCode = 0 } = value as { exitCode?: number };
        const command = request.cmd ?? [];
        this.#stories.get(request.containerId ?? '')?.commands.push({ command, exitCode, tookMs: now - at });
        return;
      }
      case 'probeHandlers.probe': {
        const { result } = value as { result: string };
        this.#stories.get(request.containerId ?? '')?.probes.push({
          type: request.type!,
          atMs: at,
          tookMs: now - at,
          ok: result !== 'failure',
        });
        return;
      }
      default:
    }
  }

  /** Whether the failure concerns an instance. */
  failed({ port, args, at }: RecordedCall, error: unknown, now: number): boolean {
    const story = this.#stories.get(((args[0] ?? {}) as Request).containerId ?? '');
    if (port === 'probeHandlers.probe') return true;
    if (port !== 'runtime.startContainer' || !story) return false;
    const startError = errorText(error);
    Object.assign(story, { startError, startTookMs: now - at });
    return true;
  }

  earlierPods(): readonly EarlierPod[] {
    return [...this.#earlier.values()];
  }

  instances(): readonly IncidentInstance[] {
    return [...this.#stories.values()].map(({ sandboxId: _, ...instance }) => instance);
  }

  #stopAsked(story: Story | undefined, at: number): void {
    if (story && story.lifeMs === undefined) story.stopAskedMs ??= at;
  }

  #sandbox(id: string, metadata: Metadata | undefined): void {
    if (this.#sandboxes.has(id) || !metadata) return;
    const { uid = '', name = '', namespace = '' } = metadata;
    this.#sandboxes.set(id, { uid, pod: name, namespace });
  }

  #instance(id: string, sandboxId: string, metadata: Metadata | undefined, state?: ContainerState): void {
    const sandbox = this.#sandboxes.get(sandboxId);
    if (this.#stories.has(id) || !sandbox) return;
    const { name: container = '', attempt = 0 } = metadata ?? {};
    const isAdopted = state !== undefined && !this.#asked.has(instanceKey(sandboxId, metadata));
    if (isAdopted) this.#existed(sandbox.namespace, sandbox.pod, state !== 'CONTAINER_EXITED');
    this.#stories.set(id, { ...sandbox, sandboxId, container, attempt, isAdopted, probes: [], commands: [] });
  }

  #existed(namespace = '', pod = '', isRunning: boolean): void {
    const key = `${namespace}/${pod}`;
    if (isRunning || !this.#earlier.has(key)) this.#earlier.set(key, { namespace, pod, isRunning });
  }

  #status(status: ContainerStatus | undefined, now: number): void {
    const story = status && this.#stories.get(status.id);
    if (!story || status.startedAt <= 0n) return;
    // By the clock of the runtime, which is that of the node.
    story.startedMs ??= Number(status.startedAt / 1000n) / 1000 - this.#startedAt - this.wallOffset;
    if (status.state !== 'CONTAINER_EXITED' || story.lifeMs !== undefined) return;
    // The answer to a start comes later than the start, but the end was there when the agent saw it.
    const lifeMs = Number(status.finishedAt - status.startedAt) / NANOS_PER_MS;
    story.lifeMs = Math.max(0, Math.min(lifeMs, now - story.startedMs));
    story.exitCode = status.exitCode;
    story.reason = status.reason;
  }
}

const sandboxKey = ({ uid, attempt = 0 }: Metadata = {}): string => `${uid} ${attempt}`;

const instanceKey = (sandboxId = '', { name, attempt = 0 }: Metadata = {}): string => `${sandboxId} ${name} ${attempt}`;

interface Metadata {
  readonly uid?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly attempt?: number;
}

/** The fields of requests that are read here. */
interface Request {
  readonly config?: { readonly metadata?: Metadata };
  readonly sandboxConfig?: { readonly metadata?: Metadata };
  readonly podSandboxId?: string;
  readonly containerId?: string;
  readonly cmd?: readonly string[];
  readonly type?: ProbeType;
}
