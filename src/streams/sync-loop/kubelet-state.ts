import { filter, map, type Observable, observeOn, queueScheduler, share, Subject } from 'rxjs';
import { SourcesReady } from '../../model/config/sources-ready.js';
import { ActiveTimes, type Moment } from '../../model/pod/active-times.js';
import { type InstanceStart, InstanceStarts } from '../../model/pod-actions/instance-starts.js';
import { DueHooks } from '../../model/pod-actions/due-hooks.js';
import { ReasonCache, type StartFailure } from '../../model/pod-actions/reason-cache.js';
import { PodStatusStore } from '../../model/pod-status/pod-status-store.js';
import { PodWorkerRegistry } from '../../model/pod-workers/pod-worker-registry.js';
import { WorkQueue } from '../../model/pod-workers/work-queue.js';
import type { Pod, PodSourceName, PodStatus } from '../../model/pod/pod.js';
import { type PodChange, podChange } from '../../model/pod-status/pod-change.js';
import { PodManager } from '../../model/pod/pod-manager.js';
import type { CrashLoopEntry } from '../../model/pod-actions/crash-loop-back-off.js';
import type { Image } from '../images/image-list.js';
import type { FailedPull, ImagePulls } from '../images/ensure-image.js';
import { dropRestarts, dropStale, newBackOffs } from '../pod-sync/back-offs.js';

interface Change<Fields, Result = void> {
  readonly fields: Fields;
  readonly result: Result;
}

/** The kinds of changes, with the fields and the result of each. Times are the scheduler's milliseconds, unless said. */
export interface StateChanges {
  /** A source wants the pod, or has another version of it. */
  'pod-set': Change<{ readonly pod: Pod }>;
  /** No source wants the pod any more. */
  'pod-removed': Change<{ readonly pod: Pod }>;
  /** The first set of the source was handled. */
  'source-ready': Change<{ readonly source: PodSourceName }>;
  /** The worker of the pod is done with it, and its record is dropped. */
  'pod-forgotten': Change<{ readonly uid: string }>;
  /** The pod was admitted or rejected. */
  'admission-decided': Change<{ readonly uid: string; readonly isAdmitted: boolean }>;
  /** This node has another status of the pod; false if it equals the one before. */
  status: Change<{ readonly uid: string; readonly status: PodStatus; readonly isFinished?: boolean }, boolean>;
  /** The API server has deleted the pod, and its status is not needed any more. */
  'status-forgotten': Change<{ readonly uid: string }>;
  /** The API server has another version of the pod or of its mirror pod. */
  'api-object-changed': Change<{ readonly uid: string }>;
  /** Only the statuses of these pods are kept. */
  'statuses-retained': Change<{ readonly uids: ReadonlySet<string> }>;
  /** An ended pod is desired again under its UID: its old status does not apply to its new life. */
  'pod-started-over': Change<{ readonly uid: string }>;
  /** The running containers of the pod whose postStart hook an earlier agent has not ended, perhaps none. */
  'due-hooks-found': Change<{ readonly uid: string; readonly containerIds: readonly string[] }>;
  /** A container with a postStart hook starts. */
  'hook-begun': Change<{ readonly uid: string; readonly containerId: string }>;
  /** The hook has ended well, or its container has ended. */
  'hook-ended': Change<{ readonly uid: string; readonly containerId: string }>;
  /** The pod has started, by the time of day. The moment of the first sight counts. Returns the milliseconds since the start; see `ActiveTimes`. */
  'start-time-seen': Change<{ readonly uid: string; readonly startTime: string } & Moment, number>;
  /** The runtime is called to start an instance, or has answered. */
  'instance-started': Change<{
    readonly uid: string;
    readonly container: string;
    readonly start: InstanceStart;
  }>;
  /** The start of a container failed or has to wait; without `failure` it succeeded. */
  'start-ended': Change<{ readonly uid: string; readonly container: string; readonly failure?: StartFailure }>;
  /** The back-off of a container before its next restart. */
  'restart-backed-off': Change<{ readonly key: string; readonly entry: CrashLoopEntry }>;
  /** The pull of an image failed; without `failed` it succeeded. */
  'pull-ended': Change<{ readonly key: string; readonly failed?: FailedPull }>;
  /** Back-offs that no decision depends on any more are dropped; `now` is the scheduler's, in milliseconds. */
  'back-offs-expired': Change<{ readonly now: number }>;
  /** The runtime has listed its images, largest first. */
  'images-listed': Change<{ readonly images: readonly Image[] }>;
}

type Kind = keyof StateChanges;
type ChangeOf<K extends Kind> = { readonly kind: K } & StateChanges[K]['fields'];
type ResultOf<K extends Kind> = StateChanges[K]['result'];

/** One change of the state. */
export type StateChange = { readonly [K in Kind]: ChangeOf<K> }[Kind];

/**
 * The state that handlers, workers, probes, the status writer and the upkeep share. All of them read it; only `apply` changes it.
 * One life of the agent has one state.
 */
export interface KubeletState {
  /** The pods and mirror pods that the sources want. */
  readonly pods: Pick<
    PodManager,
    'get' | 'asked' | 'pods' | 'mirrors' | 'podsNamed' | 'mirrorsNamed' | 'resolve' | 'podUidOf'
  >;
  /** The pod of a source with its newest status on this node, or that of its source; the same object while neither changes. */
  readonly pod: (uid: string) => Pod | undefined;
  readonly sources: Pick<SourcesReady, 'all' | 'missing'>;
  /** The records of the pod workers: handlers give updates to them, and workers take these. */
  readonly workers: PodWorkerRegistry;
  /** When each pod is due again: outcomes of workers fill it, and the sync tick empties it. */
  readonly workQueue: WorkQueue;
  /** The newest status of each pod, from this node. */
  readonly statuses: Pick<PodStatusStore, 'get' | 'stored' | 'uids' | 'isReborn'>;
  /** The UIDs of the pods that this agent has rejected. */
  readonly rejected: ReadonlySet<string>;
  /** The reason why each container did not start last time. */
  readonly startFailures: Pick<ReasonCache, 'get'>;
  /** The containers whose postStart hook has not ended well. */
  readonly dueHooks: Pick<DueHooks, 'isKnown' | 'has' | 'of'>;
  /** The starts of instances by this agent. */
  readonly starts: Pick<InstanceStarts, 'get'>;
  /** Back-offs of restarts by `crashLoopKey`; see `CrashLoopInput.entry`. */
  readonly restarts: ReadonlyMap<string, CrashLoopEntry>;
  readonly pulls: ImagePulls;
  /** The images of the node, largest first. */
  readonly images: readonly Image[];
  /** The only way to change the state. Returns the result of the change; see `StateChanges`. */
  readonly apply: <K extends Kind>(change: ChangeOf<K>) => ResultOf<K>;
  /**
   * Emits each change after it was applied, except a change whose result is `false`. A change that a subscriber makes is emitted after the
   * one that it reacts to has reached every subscriber. Hot. Errors: none. Ends: never.
   */
  readonly change$: Observable<StateChange>;
  /** Emits what became of single pods, in the same order. Hot. Errors: none. Ends: never. */
  readonly podChange$: Observable<PodChange>;
}

export interface KubeletStateOptions {
  /** The names of the sources. Absent pods are unwanted pods once each of them has sent a set. */
  readonly sources?: readonly PodSourceName[];
  /** Whether the last view of the runtime shows neither a running container nor a ready sandbox of the pod. */
  readonly isQuiet?: (uid: string) => boolean;
}

export const kubeletState = ({ sources: names = [], isQuiet }: KubeletStateOptions = {}): KubeletState => {
  const pods = new PodManager();
  const sources = new SourcesReady(names);
  const workers = new PodWorkerRegistry(isQuiet);
  const workQueue = new WorkQueue();
  const statuses = new PodStatusStore();
  const rejected = new Set<string>();
  const startFailures = new ReasonCache();
  const dueHooks = new DueHooks();
  const starts = new InstanceStarts();
  const backOffs = newBackOffs();
  const activeTimes = new ActiveTimes();
  let images: readonly Image[] = [];
  const applied$ = new Subject<Applied>();
  // One queue at the seam: a change that is made by a subscriber waits until the one before it has reached all of them.
  const emitted$ = applied$.pipe(observeOn(queueScheduler), share());
  const podsWithStatus = new WeakMap<Pod, Pod>();

  const podOf = (uid: string): Pod | undefined => {
    const pod = pods.get(uid);
    const status = statuses.get(uid);
    if (!pod || !status || status === pod.status) return pod;
    const made = podsWithStatus.get(pod);
    if (made?.status === status) return made;
    const next = { ...pod, status };
    podsWithStatus.set(pod, next);
    return next;
  };

  const changers: { readonly [K in Kind]: (change: ChangeOf<K>) => ResultOf<K> } = {
    'pod-set': ({ pod }) => pods.set(pod),
    'pod-removed': ({ pod }) => pods.remove(pod),
    'source-ready': ({ source }) => sources.add(source),
    'pod-forgotten': ({ uid }) => dropRestarts(backOffs, uid),
    'admission-decided': ({ uid, isAdmitted }) => void (isAdmitted ? rejected.delete(uid) : rejected.add(uid)),
    status: ({ uid, status, isFinished }) => statuses.set(uid, status, isFinished),
    'status-forgotten': ({ uid }) => statuses.forget(uid),
    'api-object-changed': () => undefined,
    'statuses-retained': ({ uids }) => {
      statuses.retain(uids);
      for (const uid of rejected) if (!uids.has(uid)) rejected.delete(uid);
      dueHooks.retain(uids);
      activeTimes.retain(uids);
      starts.retain(uids);
    },
    'pod-started-over': ({ uid }) => {
      statuses.startOver(uid);
      rejected.delete(uid);
    },
    'due-hooks-found': ({ uid, containerIds }) => dueHooks.found(uid, containerIds),
    'hook-begun': ({ uid, containerId }) => dueHooks.begun(uid, containerId),
    'hook-ended': ({ uid, containerId }) => dueHooks.ended(uid, containerId),
    'start-time-seen': ({ uid, startTime, ...moment }) => activeTimes.seen(uid, startTime, moment),
    'instance-started': ({ uid, container, start }) => starts.set(uid, container, start),
    'start-ended': ({ uid, container, failure }) => startFailures.set(uid, container, failure),
    'restart-backed-off': ({ key, entry }) => void backOffs.restarts.set(key, entry),
    'pull-ended': ({ key, failed }) => backOffs.pulls.ended(key, failed),
    'back-offs-expired': ({ now }) => dropStale(backOffs, now),
    'images-listed': ({ images: listed }) => void (images = listed),
  };
  const apply = <K extends Kind>(change: ChangeOf<K>): ResultOf<K> => {
    const uid = changedPod(change as StateChange);
    const before = uid === undefined ? undefined : podOf(uid);
    const result = changers[change.kind](change);
    if (result !== false) {
      const pod = uid === undefined ? undefined : podChange(before, podOf(uid));
      applied$.next({ change: change as StateChange, pod });
    }
    return result;
  };
  const { backOff, failures } = backOffs.pulls;
  return {
    pods,
    pod: podOf,
    sources,
    workers,
    workQueue,
    statuses,
    rejected,
    startFailures,
    dueHooks,
    starts,
    restarts: backOffs.restarts,
    pulls: { backOff, failures, ended: (key, failed) => apply({ kind: 'pull-ended', key, failed }) },
    get images() {
      return images;
    },
    apply,
    change$: emitted$.pipe(map(({ change }) => change)),
    podChange$: emitted$.pipe(
      map(({ pod }) => pod),
      filter((pod) => pod !== undefined),
    ),
  };
};

interface Applied {
  readonly change: StateChange;
  readonly pod: PodChange | undefined;
}

/** The pod whose wanted form or status a change may replace. */
const changedPod = (change: StateChange): string | undefined => {
  switch (change.kind) {
    case 'pod-set':
    case 'pod-removed':
      return change.pod.metadata.uid;
    case 'status':
    case 'status-forgotten':
    case 'pod-started-over':
      return change.uid;
    default:
      return undefined;
  }
};
