import type { JournalEntry } from '../../../model/journal/journal.js';
import type { Pod } from '../../../model/pod/pod.js';
import type { StoredObject } from '../api-server/stored-object.js';
import type { SimulatedInstance, WorldEvent } from '../world/world-event.js';
import { type CallSubject, subjectOf } from './cri-request.js';
import { type ClockSetting, RIGHT, wallOf } from './clock-setting.js';
import { applyEntry, forgetLife, keptPodsAfter } from './journal-truth.js';
import { longestGraceSeconds, withoutDuplicates } from './pod-spec.js';
import {
  type InstanceTruth,
  type Mutable,
  type MutablePod,
  newPodTruth,
  type PodTruth,
  type SandboxTruth,
} from './pod-truth.js';

/** A pending call of the runtime. */
export interface CallTruth extends CallSubject {
  readonly number: number;
  readonly call: string;
  readonly since: number;
}

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

  #pod(of: Pick<SimulatedInstance, 'uid' | 'pod' | 'namespace'>): MutablePod {
    const pod = this.#pods.get(of.uid) ?? newPodTruth(of);
    this.#pods.set(of.uid, pod);
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
      for (const name of otherImages(pod.manifest, wanted)) pod.imageChangedAt.set(name, at);
      pod.wantedSince ??= at;
      pod.wanted = wanted;
      pod.manifest = wanted;
      pod.source = source;
      pod.longestGraceSeconds = Math.max(pod.longestGraceSeconds, longestGraceSeconds(wanted));
    }
  }

  #journal(entry: JournalEntry, at: number): void {
    this.#usesKeptPods = keptPodsAfter(entry) ?? this.#usesKeptPods;
    const pod = entry.pod && this.#pods.get(entry.pod.uid);
    if (pod) applyEntry(pod, entry, { at, wall: this.wall(at), usesKeptPods: this.#usesKeptPods });
  }
}

/** The names of the containers whose image is not the same in both versions of a pod. */
const otherImages = (before: Pod | undefined, now: Pod): readonly string[] => {
  const images = new Map(before?.spec.containers.map(({ name, image }) => [name, image]));
  return now.spec.containers.filter(({ name, image }) => images.get(name) !== image).map(({ name }) => name);
};

const LOST_START: Partial<InstanceTruth> = {
  startedAt: undefined,
  exitedAt: undefined,
  exitedWall: undefined,
  exitCode: undefined,
};

const text = ({ metadata, spec }: Pod): string => JSON.stringify([metadata, spec]);
