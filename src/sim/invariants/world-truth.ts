import type { JournalEntry } from '../../model/journal.js';
import type { Pod } from '../../model/pod.js';
import type { StoredObject } from '../api-server/stored-object.js';
import type { SimulatedInstance, SimulatedPodSandbox, WorldEvent } from '../world-event.js';
import { type CallSubject, subjectOf } from './cri-request.js';
import { longestGraceSeconds, withoutDuplicates } from './pod-spec.js';

/** One instance of a container. Times are virtual milliseconds, those that end in `Wall` are of the clock of the wall. */
export interface InstanceTruth extends SimulatedInstance {
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly exitedAt?: number;
  readonly exitedWall?: number;
  readonly exitCode?: number;
  readonly removedAt?: number;
}

export interface SandboxTruth extends SimulatedPodSandbox {
  readonly createdAt: number;
  readonly stoppedAt?: number;
  readonly removedAt?: number;
}

/** A call of the runtime that the agent waits for. */
export interface CallTruth extends CallSubject {
  readonly number: number;
  readonly call: string;
  readonly since: number;
}

/** One run of a worker. */
export interface PassTruth {
  /** Of its `sync-started`. */
  readonly id: string;
  readonly work: 'sync' | 'terminating' | 'terminated';
  readonly since: number;
  readonly sinceWall: number;
  readonly graceSeconds?: number;
}

type Journaled<Kind extends JournalEntry['kind']> = Extract<JournalEntry, { readonly kind: Kind }>;

/** Everything that is true of the pod of one UID. */
export interface PodTruth {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** In the order of their creation, also those that are gone. */
  readonly instances: readonly InstanceTruth[];
  readonly sandboxes: readonly SandboxTruth[];
  /** As its source has it now. */
  readonly wanted?: Pod;
  readonly source?: string;
  /** As a source had it last. */
  readonly manifest?: Pod;
  /** Since when its source has wanted it just so, or has no longer wanted it. */
  readonly specSince: number;
  /** Since when a source has wanted it, without a break. */
  readonly wantedSince?: number;
  /** The most that any version of it has asked for. */
  readonly longestGraceSeconds: number;

  // What follows is of the present life of the agent.
  readonly pass?: PassTruth;
  /** Ended runs of the worker that looked at the pod. */
  readonly lastPassEndedAt?: number;
  readonly passBeforeEndedAt?: number;
  readonly lastPass?: PassTruth & { readonly ended: Journaled<'sync-ended'>; readonly endedAt: number };
  /** Since the agent has acknowledged that the pod has to stop; until it has forgotten the pod. */
  readonly terminatingSince?: number;
  readonly forgottenAt?: number;
  readonly rejectedAt?: number;
  readonly killRequestedAt?: number;
  readonly removalHandledAt?: number;
  readonly addedAt?: number;
  /** When the agent heard last what its source wants of it. */
  readonly heardAt?: number;
  readonly startDelayed?: { readonly at: number; readonly holder: string };
  readonly phase?: string;
  /** By container, and by `image-pull` of a container as `<container> image`. Unix milliseconds. */
  readonly backOffUntil: ReadonlyMap<string, number>;
  /** When a liveness or startup probe of a container was last found to fail. */
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

/** What every monitor would have to remember of a world. */
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
  #aheadMs = 0;
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

  /** Calls under way, by their numbers. */
  get calls(): ReadonlyMap<number, CallTruth> {
    return this.#calls;
  }

  /** What each source has said last, without what is ignored as a duplicate. */
  get sources(): ReadonlyMap<string, readonly Pod[]> {
    return this.#sources;
  }

  /** What the API server has, by kind, namespace and name: `pods/default/web`, `nodes/node-1`. */
  get apiObjects(): ReadonlyMap<string, StoredObject> {
    return this.#apiObjects;
  }

  /** The agent has an API server, from which it hears of everything a little later. */
  get hasApi(): boolean {
    return this.#hasApi;
  }

  /** The pods that the API server has. */
  get apiPods(): readonly Pod[] {
    return [...this.#apiObjects]
      .filter(([key]) => key.startsWith('pods/'))
      .map(([, object]) => object as unknown as Pod);
  }

  /** Of the agent that runs; undefined while none does. */
  get life(): number | undefined {
    return this.#life;
  }

  get lifeSince(): number {
    return this.#lifeSince;
  }

  /** Unix milliseconds by the clock of the wall. */
  wall(at: number): number {
    return at + this.#aheadMs;
  }

  /** Whom a call is about that is just being made. */
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
        this.#aheadMs = event.aheadMs;
        break;
      case 'wanted':
        this.#want(event);
        break;
      case 'agent-started':
        this.#life = event.life;
        this.#lifeSince = event.at;
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

  #pod({ uid, pod: name, namespace }: Pick<SimulatedInstance, 'uid' | 'pod' | 'namespace'>): MutablePod {
    const known = this.#pods.get(uid);
    if (known) return known;
    const pod: MutablePod = {
      ...{ uid, name, namespace, instances: [], sandboxes: [], specSince: 0, longestGraceSeconds: 0 },
      ...{ backOffUntil: new Map(), probeFailedAt: new Map() },
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
    const pod = entry.pod && this.#pods.get(entry.pod.uid);
    if (!pod) return;
    switch (entry.kind) {
      case 'sync-started':
        pod.pass = {
          ...{ id: entry.id, work: entry.work, since: at, sinceWall: this.wall(at) },
          graceSeconds: entry.graceSeconds,
        };
        pod.startDelayed = undefined;
        if (entry.work !== 'sync') pod.terminatingSince ??= at;
        break;
      case 'sync-ended':
        if (pod.pass) pod.lastPass = { ...pod.pass, ended: entry, endedAt: at };
        pod.pass = undefined;
        // A worker that could not read its pod has seen nothing of it.
        if (entry.error?.startsWith('error determining status')) break;
        pod.passBeforeEndedAt = pod.lastPassEndedAt;
        pod.lastPassEndedAt = at;
        break;
      case 'forgotten': {
        // Of a pod that has come back while it ended, the status stays.
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
        if (entry.op === 'ADD' || entry.op === 'UPDATE') pod.heardAt = at;
        break;
      case 'housekeeping':
        if (isRebirth(entry)) {
          const { addedAt, heardAt } = pod;
          forgetLife(pod);
          pod.addedAt = addedAt;
          pod.heardAt = heardAt;
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

/** From here on the agent knows nothing of what it did with the pod before. */
export const isRebirth = (entry: JournalEntry): boolean =>
  entry.kind === 'forgotten' ||
  (entry.kind === 'housekeeping' && entry.finding.startsWith('the pod is wanted and nothing works on it'));

/** What only the agent that runs knows, or says, of a pod. */
const forgetLife = (pod: MutablePod): void => {
  pod.pass = undefined;
  pod.lastPass = undefined;
  pod.lastPassEndedAt = undefined;
  pod.passBeforeEndedAt = undefined;
  pod.terminatingSince = undefined;
  pod.forgottenAt = undefined;
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

const text = ({ metadata, spec }: Pod): string => JSON.stringify([metadata, spec]);

/** Between two relists while the runtime tells of its events. Milliseconds. */
const RELIST_MS = 330_000;

/** What happened before then is known to the agent, when a pass over the pod has just ended. */
export const seenSinceOf = (
  truth: WorldTruth,
  { passBeforeEndedAt }: PodTruth,
  { at, eventedPleg }: { readonly at: number; readonly eventedPleg: boolean },
): number => Math.min(passBeforeEndedAt ?? truth.lifeSince, eventedPleg ? at - RELIST_MS : Infinity);

export const isLive = ({ startedAt, exitedAt, removedAt }: InstanceTruth): boolean =>
  startedAt !== undefined && exitedAt === undefined && removedAt === undefined;

export const isReady = ({ stoppedAt, removedAt }: SandboxTruth): boolean =>
  stoppedAt === undefined && removedAt === undefined;

/** The instances of one container of the pod that run. */
export const liveInstances = (
  { instances }: Pick<PodTruth, 'instances'>,
  container: string,
): readonly InstanceTruth[] => instances.filter((instance) => instance.container === container && isLive(instance));
