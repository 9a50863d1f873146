import type { JournalEntry } from '../../../model/journal/journal.js';
import type { Pod } from '../../../model/pod/pod.js';
import type { StoredObject } from '../api-server/stored-object.js';
import type { SimulatedInstance, SimulatedPodSandbox, WorldEvent } from '../world-event.js';
import { type CallSubject, subjectOf } from './cri-request.js';
import { type ClockSetting, RIGHT, wallOf } from './clock-setting.js';
import { longestGraceSeconds, withoutDuplicates } from './pod-spec.js';

/** One instance of a container. Times are virtual milliseconds, those that end in `Wall` are of the wall clock. */
export interface InstanceTruth extends SimulatedInstance {
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly exitedAt?: number;
  readonly exitedWall?: number;
  readonly exitCode?: number;
  readonly removedAt?: number;
  /** After a boot the runtime does not know when it was made, and whether it ever ran. */
  readonly isStatusLost?: boolean;
}

export interface SandboxTruth extends SimulatedPodSandbox {
  readonly createdAt: number;
  readonly stoppedAt?: number;
  readonly removedAt?: number;
}

/** A pending call of the runtime. */
export interface CallTruth extends CallSubject {
  readonly number: number;
  readonly call: string;
  readonly since: number;
}

/** One run of a worker. */
export interface PassTruth {
  /** The id of its `sync-started`. */
  readonly id: string;
  readonly work: 'sync' | 'terminating' | 'terminated';
  readonly since: number;
  readonly sinceWall: number;
  readonly graceSeconds?: number;
}

type Journaled<Kind extends JournalEntry['kind']> = Extract<JournalEntry, { readonly kind: Kind }>;

/** The true state of the pod of one UID. */
export interface PodTruth {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** In the order of their creation, removed ones included. */
  readonly instances: readonly InstanceTruth[];
  readonly sandboxes: readonly SandboxTruth[];
  /** The version of its source now. */
  readonly wanted?: Pod;
  readonly source?: string;
  /** The last version of a source. */
  readonly manifest?: Pod;
  /** Since when its source has had this version, or none. */
  readonly specSince: number;
  /** Since when a source has had the pod, without a break. */
  readonly wantedSince?: number;
  /** The longest grace period of any of its versions. */
  readonly longestGraceSeconds: number;
  /** When an agent last forgot what it had done for the pod. What ran before belongs to a life that is over. */
  readonly forgottenAt?: number;

  // The following is of the present life of the agent.
  readonly pass?: PassTruth;
  /** The number of ended runs of the worker that read the pod. */
  readonly lastPassEndedAt?: number;
  readonly passBeforeEndedAt?: number;
  readonly lastPass?: PassTruth & { readonly ended: Journaled<'sync-ended'>; readonly endedAt: number };
  /** Since the agent has acknowledged that the pod has to stop; until it has forgotten the pod. */
  readonly terminatingSince?: number;
  readonly rejectedAt?: number;
  readonly killRequestedAt?: number;
  readonly removalHandledAt?: number;
  readonly addedAt?: number;
  /** When the agent last received the pod from its source. */
  readonly heardAt?: number;
  readonly startDelayed?: { readonly at: number; readonly holder: string };
  readonly phase?: string;
  /** By container, and by `image-pull` of a container as `<container> image`. Unix milliseconds. */
  readonly backOffUntil: ReadonlyMap<string, number>;
  /** When a liveness or startup probe of a container last failed. */
  readonly probeFailedAt: ReadonlyMap<string, number>;
  readonly shown?: { readonly pod: Pod; readonly at: number };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type MutablePod = Mutable<Omit<PodTruth, 'instances' | 'sandboxes' | 'backOffUntil' | 'probeFailedAt'>> & {
  readonly instances: Mutable<InstanceTruth>[];
  readonly sandboxes: Mutable<SandboxTruth>[];
  readonly backOffUntil: Map<string, number>;
  readonly probeFailedAt: Map<string, number>;
};

/** The state of a world that every monitor would have to keep. */
export class WorldTruth {
  readonly #pods = new Map<string, MutablePod>();
  readonly #instances = new Map<string, Mutable<InstanceTruth>>();
  readonly #sandboxes = new Map<string, Mutable<SandboxTruth>>();
  readonly #calls = new Map<number, CallTruth>();
  readonly #sources = new Map<string, readonly Pod[]>();
  readonly #apiObjects = new Map<string, StoredObject>();
  #hasApi = false;
  #life: number | undefined;
  #lifeSince = 0;
  /** The agent has no list of the API server yet, and goes on with the pods that an earlier agent has kept. */
  #usesKeptPods = false;
  #oneClockSince: number | undefined = -Infinity;
  readonly #clocks: Record<'agent' | 'runtime', ClockSetting> = { agent: RIGHT, runtime: RIGHT };
  #asked: { readonly number: number; readonly subject: CallSubject } | undefined;

  get pods(): ReadonlyMap<string, PodTruth> {
    return this.#pods;
  }

  /** The instances of containers by their ids. */
  get instances(): ReadonlyMap<string, InstanceTruth> {
    return this.#instances;
  }

  get sandboxes(): ReadonlyMap<string, SandboxTruth> {
    return this.#sandboxes;
  }

  /** Pending calls, by their numbers. */
  get calls(): ReadonlyMap<number, CallTruth> {
    return this.#calls;
  }

  /** The last set of each source, without ignored duplicates. */
  get sources(): ReadonlyMap<string, readonly Pod[]> {
    return this.#sources;
  }

  /** The objects of the API server, by kind, namespace and name: `pods/default/web`, `nodes/node-1`. */
  get apiObjects(): ReadonlyMap<string, StoredObject> {
    return this.#apiObjects;
  }

  /** The agent has an API server, from which it receives every change a little later. */
  get hasApi(): boolean {
    return this.#hasApi;
  }

  /** The pods of the API server. */
  get apiPods(): readonly Pod[] {
    return [...this.#apiObjects]
      .filter(([key]) => key.startsWith('pods/'))
      .map(([, object]) => object as unknown as Pod);
  }

  /** The running agent; undefined while none runs. */
  get life(): number | undefined {
    return this.#life;
  }

  get lifeSince(): number {
    return this.#lifeSince;
  }

  /** Unix milliseconds by the wall clock of the agent. */
  wall(at: number): number {
    return Math.floor(wallOf(this.#clocks.agent, at));
  }

  /** Since when the agent and the runtime have had one wall clock that ran as time does; undefined while they differ. */
  get oneClockSince(): number | undefined {
    return this.#oneClockSince;
  }

  /** The pod and container of a call that is just being made. */
  subject({ number, call, request }: Extract<WorldEvent, { readonly kind: 'call' }>): CallSubject {
    if (this.#asked?.number === number) return this.#asked.subject;
    const named = subjectOf(call, request);
    const instance = this.#instances.get(named.containerId ?? '');
    const sandbox = this.#sandboxes.get(named.sandboxId ?? '');
    const subject: CallSubject = {
      ...named,
      uid: named.uid ?? instance?.uid ?? sandbox?.uid,
      container: named.container ?? instance?.container,
    };
    this.#asked = { number, subject };
    return subject;
  }

  apply(event: WorldEvent): void {
    switch (event.kind) {
      case 'sandbox-created': {
        const sandbox: Mutable<SandboxTruth> = { ...event, createdAt: event.at };
        this.#sandboxes.set(event.sandboxId, sandbox);
        this.#pod(event).sandboxes.push(sandbox);
        break;
      }
      case 'sandbox-stopped':
      case 'sandbox-removed': {
        const sandbox = this.#sandboxes.get(event.sandboxId);
        if (!sandbox) break;
        sandbox.stoppedAt ??= event.at;
        if (event.kind === 'sandbox-removed') sandbox.removedAt = event.at;
        break;
      }
      case 'container-created': {
        const instance: Mutable<InstanceTruth> = { ...event, createdAt: event.at };
        this.#instances.set(event.containerId, instance);
        this.#pod(event).instances.push(instance);
        break;
      }
      case 'container-started':
        this.#change(event.containerId, { startedAt: event.at });
        break;
      case 'container-exited': {
        const { at, containerId, exitCode } = event;
        this.#change(containerId, { exitedAt: at, exitedWall: this.wall(at), exitCode });
        break;
      }
      case 'container-start-lost':
        this.#change(event.containerId, LOST_START);
        break;
      case 'container-status-lost':
        this.#change(event.containerId, { isStatusLost: true });
        break;
      case 'container-removed':
        this.#change(event.containerId, { removedAt: event.at });
        break;
      case 'call':
        this.#calls.set(event.number, {
          ...this.subject(event),
          number: event.number,
          call: event.call,
          since: event.at,
        });
        break;
      case 'call-ended':
      case 'call-given-up':
        this.#calls.delete(event.number);
        break;
      case 'clock-set':
      case 'runtime-clock-set':
        this.#setClock(event);
        break;
      case 'wanted':
        this.#want(event);
        break;
      case 'agent-started':
        this.#life = event.life;
        this.#lifeSince = event.at;
        this.#usesKeptPods = false;
        for (const pod of this.#pods.values()) forgetLife(pod);
        break;
      case 'agent-killed':
      case 'agent-stopped':
        this.#life = undefined;
        break;
      case 'api-changed': {
        const { namespace, name } = event.object.metadata;
        const key = [event.resource, ...(namespace === undefined ? [] : [namespace]), name].join('/');
        this.#hasApi = true;
        if (event.type === 'DELETED') this.#apiObjects.delete(key);
        else this.#apiObjects.set(key, event.object);
        break;
      }
      case 'journal':
        this.#journal(event.entry, event.at);
        break;
      case 'status': {
        const pod = this.#pods.get(event.uid);
        if (pod) pod.shown = event.pod && { pod: event.pod, at: event.at };
        break;
      }
      default:
        break;
    }
  }

  #setClock({
    kind,
    at,
    aheadMs,
    rate = 1,
  }: Extract<WorldEvent, { readonly kind: 'clock-set' | 'runtime-clock-set' }>) {
    this.#clocks[kind === 'clock-set' ? 'agent' : 'runtime'] = { aheadMs, rate, since: at };
    const { agent, runtime } = this.#clocks;
    const isOne = [agent, runtime].every((clock) => clock.rate === 1) && agent.aheadMs === runtime.aheadMs;
    this.#oneClockSince = isOne ? at : undefined;
  }

  #pod({ uid, pod: name, namespace }: Pick<SimulatedInstance, 'uid' | 'pod' | 'namespace'>): MutablePod {
    const known = this.#pods.get(uid);
    if (known) return known;
    const pod: MutablePod = {
      uid,
      name,
      namespace,
      instances: [],
      sandboxes: [],
      specSince: 0,
      longestGraceSeconds: 0,
      backOffUntil: new Map(),
      probeFailedAt: new Map(),
    };
    this.#pods.set(uid, pod);
    return pod;
  }

  #change(containerId: string, change: Partial<InstanceTruth>): void {
    const instance = this.#instances.get(containerId);
    if (instance) Object.assign(instance, change);
  }

  #want({ at, source, pods: said }: Extract<WorldEvent, { readonly kind: 'wanted' }>): void {
    const pods = withoutDuplicates(said);
    const before = this.#sources.get(source) ?? [];
    this.#sources.set(source, pods);
    const now = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const { metadata } of before) {
      const pod = this.#pods.get(metadata.uid);
      if (!pod || now.has(metadata.uid) || pod.source !== source) continue;
      pod.wanted = undefined;
      pod.wantedSince = undefined;
      pod.specSince = at;
    }
    for (const wanted of pods) {
      const { uid, name, namespace } = wanted.metadata;
      const pod = this.#pod({ uid, pod: name, namespace });
      if (!pod.wanted || text(pod.wanted) !== text(wanted)) pod.specSince = at;
      pod.wantedSince ??= at;
      pod.wanted = wanted;
      pod.manifest = wanted;
      pod.source = source;
      pod.longestGraceSeconds = Math.max(pod.longestGraceSeconds, longestGraceSeconds(wanted));
    }
  }

  #journal(entry: JournalEntry, at: number): void {
    if (entry.kind === 'config-problem' && entry.source === 'api' && KEPT_PODS.test(entry.problem))
      this.#usesKeptPods = true;
    if (entry.kind === 'config-recovered' && entry.source === 'api') this.#usesKeptPods = false;
    const pod = entry.pod && this.#pods.get(entry.pod.uid);
    if (!pod) return;
    switch (entry.kind) {
      case 'sync-started':
        pod.pass = {
          id: entry.id,
          work: entry.work,
          since: at,
          sinceWall: this.wall(at),
          graceSeconds: entry.graceSeconds,
        };
        pod.startDelayed = undefined;
        if (entry.work !== 'sync') pod.terminatingSince ??= at;
        break;
      case 'sync-ended':
        if (pod.pass) pod.lastPass = { ...pod.pass, ended: entry, endedAt: at };
        pod.pass = undefined;
        // A worker that could not read its pod has not seen its state.
        if (entry.error?.startsWith('error determining status')) break;
        pod.passBeforeEndedAt = pod.lastPassEndedAt;
        pod.lastPassEndedAt = at;
        break;
      case 'forgotten': {
        // A pod that was added again while it ended keeps its status.
        const shown = pod.wanted && pod.shown;
        forgetLife(pod);
        pod.shown = shown;
        pod.forgottenAt = at;
        break;
      }
      case 'admission-rejected':
        pod.rejectedAt = at;
        break;
      case 'kill-requested':
        pod.killRequestedAt = at;
        break;
      case 'config':
        if (entry.op === 'REMOVE') pod.removalHandledAt = at;
        if (entry.op === 'ADD') pod.addedAt = at;
        // Pods that an earlier agent has kept may have changed meanwhile.
        if (entry.source === 'api' && this.#usesKeptPods) break;
        if (entry.op === 'ADD' || entry.op === 'UPDATE') pod.heardAt = at;
        break;
      case 'housekeeping':
        if (isRebirth(entry)) {
          const { addedAt, heardAt } = pod;
          forgetLife(pod);
          pod.addedAt = addedAt;
          pod.heardAt = heardAt;
          pod.forgottenAt = at;
        }
        break;
      case 'start-delayed':
        pod.startDelayed = { at, holder: entry.holder.uid };
        break;
      case 'phase':
        pod.phase = entry.to;
        break;
      case 'probe':
        if (entry.probe !== 'readiness' && entry.result === 'failure' && entry.container !== undefined)
          pod.probeFailedAt.set(entry.container, at);
        break;
      case 'back-off': {
        const container = entry.container ?? '';
        pod.backOffUntil.set(entry.subject === 'restart' ? container : `${container} image`, entry.until);
        break;
      }
      default:
        break;
    }
  }
}

const LOST_START: Partial<InstanceTruth> = {
  startedAt: undefined,
  exitedAt: undefined,
  exitedWall: undefined,
  exitCode: undefined,
};

/** From here on the agent knows nothing of its earlier actions for the pod. */
export const isRebirth = (entry: JournalEntry): boolean =>
  entry.kind === 'forgotten' ||
  (entry.kind === 'housekeeping' && entry.finding.startsWith('the pod is wanted and nothing works on it'));

/** The facts that only the running agent knows of a pod. */
const forgetLife = (pod: MutablePod): void => {
  pod.pass = undefined;
  pod.lastPass = undefined;
  pod.lastPassEndedAt = undefined;
  pod.passBeforeEndedAt = undefined;
  pod.terminatingSince = undefined;
  pod.rejectedAt = undefined;
  pod.killRequestedAt = undefined;
  pod.removalHandledAt = undefined;
  pod.addedAt = undefined;
  pod.heardAt = undefined;
  pod.startDelayed = undefined;
  pod.phase = undefined;
  pod.shown = undefined;
  pod.backOffUntil.clear();
  pod.probeFailedAt.clear();
};

/** The problem by which the agent says that its pods are those that an earlier agent has kept. */
const KEPT_PODS = /^the API server is away: going on with the pods that it had/;

const text = ({ metadata, spec }: Pod): string => JSON.stringify([metadata, spec]);

/** The time between two relists while the runtime emits events. Milliseconds. */
const RELIST_MS = 330_000;

/**
 * Whether this agent has read the pod from the runtime. Until then the pod shows the status of its source: a sync that cannot read
 * its pod makes no status. Source: pkg/kubelet/pod_workers.go podWorkerLoop
 */
export const isRead = ({ lastPassEndedAt }: PodTruth): boolean => lastPassEndedAt !== undefined;

/**
 * The time before which the agent knows every event, if a sync of the pod has just ended; -Infinity while it has not read the pod.
 * Virtual milliseconds.
 */
export const seenSinceOf = (
  truth: WorldTruth,
  pod: PodTruth,
  { at, eventedPleg }: { readonly at: number; readonly eventedPleg: boolean },
): number => {
  if (!isRead(pod)) return -Infinity;
  return Math.min(pod.passBeforeEndedAt ?? truth.lifeSince, eventedPleg ? at - RELIST_MS : Infinity);
};

export const isLive = ({ startedAt, exitedAt, removedAt }: InstanceTruth): boolean =>
  startedAt !== undefined && exitedAt === undefined && removedAt === undefined;

export const isReady = ({ stoppedAt, removedAt }: SandboxTruth): boolean =>
  stoppedAt === undefined && removedAt === undefined;

/** The running instances of one container of the pod. */
export const liveInstances = (
  { instances }: Pick<PodTruth, 'instances'>,
  container: string,
): readonly InstanceTruth[] => instances.filter((instance) => instance.container === container && isLive(instance));
