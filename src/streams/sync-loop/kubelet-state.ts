import { distinctUntilChanged, map, type Observable, observeOn, of, queueScheduler, share, Subject } from 'rxjs';
import type { Image } from '../../generated/runtime/v1/api.js';
import { missingSources } from '../../model/config/sources-ready.js';
import { initialState, type NodeState, podWithStatus } from '../../model/node-state/node-state.js';
import { reduce } from '../../model/node-state/reduce.js';
import type { StateChange } from '../../model/node-state/state-change.js';
import type { Pod, PodSourceName } from '../../model/pod/pod.js';
import { type WantedPodsView, wantedPodsView } from '../../model/pod/wanted-pods.js';
import type { CrashLoopEntry } from '../../model/pod-actions/crash-loop-back-off.js';
import { type DueHooksView, dueHooksView } from '../../model/pod-actions/due-hooks.js';
import { type InstanceStart, startOf } from '../../model/pod-actions/instance-starts.js';
import { type StartFailure, startFailureOf } from '../../model/pod-actions/start-failures.js';
import { type PodStatusesView, podStatusesView } from '../../model/pod-status/pod-statuses.js';
import { PodWorkerRegistry } from '../../model/pod-workers/pod-worker-registry.js';
import { type VolumeStatesView, volumeStatesView } from '../../model/volumes/volume-states.js';
import { WorkQueue } from '../../model/pod-workers/work-queue.js';
import { startWithPresent } from '../operators/start-with-present.js';
import type { ImagePulls } from '../../model/pod-actions/back-offs.js';

/** A change, with the state before and after it. */
export interface Transition {
  readonly change: StateChange;
  readonly before: NodeState;
  readonly after: NodeState;
}

/**
 * The state that handlers, workers, probes, the status writer and the upkeep share: one value, which `apply` replaces by the next one. The
 * views show the newest value whenever they are asked. One life of the agent has one state.
 */
export interface KubeletState {
  /** The newest value. */
  readonly value: NodeState;
  /** The newest value at once, then each newer one; never an older one after it. Errors: none. Ends: never. */
  readonly state$: Observable<NodeState>;
  /**
   * Emits each change after it was applied. One that a subscriber makes is emitted after the one that it reacts to has reached every
   * subscriber. Hot. Errors: none. Ends: never.
   */
  readonly transition$: Observable<Transition>;
  /**
   * Applies a change, at once. Returns whether it says something new; a status that equals the one before in the fields of this agent says
   * nothing new.
   */
  readonly apply: (change: StateChange) => boolean;
  /** The records of the pod workers: handlers give updates to them, and workers take these. */
  readonly workers: PodWorkerRegistry;
  /** When each pod is due again: outcomes of workers fill it, and the sync tick empties it. */
  readonly workQueue: WorkQueue;

  /** The pods and mirror pods that the sources want. */
  readonly pods: WantedPodsView;
  /** The pod of a source with its newest status on this node, or that of its source; the same object while neither changes. */
  readonly pod: (uid: string) => Pod | undefined;
  readonly sources: {
    /** Every source has delivered its pods. */
    readonly all: boolean;
    /** Those that have delivered nothing yet. */
    readonly missing: readonly PodSourceName[];
  };
  /** The newest status of each pod, from this node. */
  readonly statuses: PodStatusesView;
  /** Whether this agent has rejected the pod. */
  readonly rejected: { readonly has: (uid: string) => boolean };
  /** The reason why a container did not start last time. */
  readonly startFailures: { readonly get: (uid: string, container: string) => StartFailure | undefined };
  /** The containers whose postStart hook has not ended well. */
  readonly dueHooks: DueHooksView;
  /** The starts of instances by this agent. */
  readonly starts: { readonly get: (uid: string, containerId: string) => InstanceStart | undefined };
  /** Back-offs of restarts by `crashLoopKey`; see `CrashLoopInput.entry`. */
  readonly restarts: { readonly get: (key: string) => CrashLoopEntry | undefined };
  readonly pulls: ImagePulls;
  readonly volumes: VolumeStatesView;
  /** The images of the node, largest first. */
  readonly images: readonly Image[];
}

export interface KubeletStateOptions {
  /** The names of the sources. Absent pods are unwanted pods once each of them has sent a set. */
  readonly sources?: readonly PodSourceName[];
  /** Whether the last view of the runtime shows neither a running container nor a ready sandbox of the pod. */
  readonly isQuiet?: (uid: string) => boolean;
}

export const kubeletState = ({ sources = [], isQuiet }: KubeletStateOptions = {}): KubeletState => {
  let value = initialState(sources);
  const now = (): NodeState => value;
  const applied$ = new Subject<Transition>();
  // One queue at the seam: a change that is made by a subscriber waits until the one before it has reached all of them.
  const transition$ = applied$.pipe(observeOn(queueScheduler), share());
  const apply = (change: StateChange): boolean => {
    const before = value;
    value = reduce(before, change);
    const transition = { change, before, after: value };
    applied$.next(transition);
    return isNews(transition);
  };
  return {
    get value() {
      return value;
    },
    state$: transition$.pipe(
      map(now),
      startWithPresent(() => of(value)),
      distinctUntilChanged(),
    ),
    transition$,
    apply,
    workers: new PodWorkerRegistry(isQuiet),
    workQueue: new WorkQueue(),
    pods: wantedPodsView(() => value.wanted),
    pod: (uid) => podWithStatus(value, uid),
    sources: {
      get all() {
        return missingSources(value.sources).length === 0;
      },
      get missing() {
        return missingSources(value.sources);
      },
    },
    statuses: podStatusesView(() => value.statuses),
    rejected: { has: (uid) => value.rejected.has(uid) },
    startFailures: { get: (uid, container) => startFailureOf(value.startFailures, uid, container) },
    dueHooks: dueHooksView(() => value.dueHooks),
    starts: { get: (uid, containerId) => startOf(value.starts, uid, containerId) },
    restarts: { get: (key) => value.backOffs.restarts.get(key) },
    pulls: {
      backOffOf: (key) => value.backOffs.pulls.get(key),
      failureOf: (key) => value.backOffs.pullFailures.get(key),
      ended: (key, failed) => void apply({ kind: 'pull-ended', key, ...(failed && { failed }) }),
    },
    volumes: volumeStatesView(() => value.volumes),
    get images() {
      return value.images;
    },
  };
};

/** Whether a change said something new. */
export const isNews = ({ change, before, after }: Transition): boolean =>
  change.kind === 'status'
    ? before.statuses.stored.get(change.uid)?.version !== after.statuses.stored.get(change.uid)?.version
    : before !== after;
