import { Map as ImmutableMap, OrderedMap, Set as ImmutableSet } from 'immutable';
import type { Image } from '../../generated/runtime/v1/api.js';
import { NO_PREEMPTIONS, type Preemptions } from '../admission/preemptions.js';
import type { SourcesReady } from '../config/sources-ready.js';
import { NO_PRESSURE, type NodePressure } from '../node/node-conditions.js';
import type { ActiveTimes } from '../pod/active-times.js';
import type { Pod, PodSourceName } from '../pod/pod.js';
import { NO_PODS, type WantedPods } from '../pod/wanted-pods.js';
import { type BackOffs, NO_BACK_OFFS } from '../pod-actions/back-offs.js';
import { type DueHooks, NO_HOOKS } from '../pod-actions/due-hooks.js';
import type { InstanceStarts } from '../pod-actions/instance-starts.js';
import type { StartFailures } from '../pod-actions/start-failures.js';
import type { VolumeStates } from '../volumes/volume-states.js';
import { NO_RESIZES, type PodResizes } from '../resize/pod-resizes.js';
import { NO_STATUSES, type PodStatuses } from '../pod-status/pod-statuses.js';
import { type HealthFacts, healthProblemAt, NO_HEALTH_FACTS } from '../runtime-health/health-facts.js';
import type { WorkerActivities } from '../pod-workers/worker-activity.js';

/**
 * The state by which an agent decides, as one immutable value. The next value shares with it what the change left alone. What the runtime
 * runs is not in it: that is read from the runtime.
 */
export interface NodeState {
  /** The pods and mirror pods that the sources want. */
  readonly wanted: WantedPods;
  readonly sources: SourcesReady;
  /** The newest status of each pod, from this node. */
  readonly statuses: PodStatuses;
  /** The UIDs of the pods that this agent has rejected. */
  readonly rejected: ImmutableSet<string>;
  /** The pods that are stopped to make room, and those that wait for it. */
  readonly preemptions: Preemptions;
  /** What becomes of pods whose amounts are changed while they run. */
  readonly resizes: PodResizes;
  /** The containers whose postStart hook has not ended well. */
  readonly dueHooks: DueHooks;
  /** The starts of instances by this agent. */
  readonly starts: InstanceStarts;
  /** When the pods started. */
  readonly activeTimes: ActiveTimes;
  /** The reason why each container did not start last time. */
  readonly startFailures: StartFailures;
  readonly backOffs: BackOffs;
  /** What the workers of pods do, and when each pod is due again. */
  readonly activity: WorkerActivities;
  /** The volumes of pods: their desired and their actual state. */
  readonly volumes: VolumeStates;
  /** The last status of the runtime, and the last relist. */
  readonly runtime: HealthFacts;
  /** The reason why pods cannot be synced, as the last check found it; undefined while they can. */
  readonly health: string | undefined;
  /** The machine shuts down, and the pods are stopped before it does. */
  readonly isShuttingDown: boolean;
  /** What the node is short of. */
  readonly pressure: NodePressure;
  /** The images of the node, largest first. */
  readonly images: readonly Image[];
}

/** The state of an agent that has just begun. Absent pods are unwanted pods once each of these sources has sent a set. */
export const initialState = (expected: readonly PodSourceName[] = []): NodeState => ({
  wanted: NO_PODS,
  sources: { expected, seen: [] },
  statuses: NO_STATUSES,
  rejected: ImmutableSet(),
  preemptions: NO_PREEMPTIONS,
  resizes: NO_RESIZES,
  dueHooks: NO_HOOKS,
  starts: ImmutableMap(),
  activeTimes: ImmutableMap(),
  startFailures: OrderedMap(),
  backOffs: NO_BACK_OFFS,
  activity: ImmutableMap(),
  volumes: OrderedMap(),
  runtime: NO_HEALTH_FACTS,
  health: healthProblemAt(NO_HEALTH_FACTS, 0),
  isShuttingDown: false,
  pressure: NO_PRESSURE,
  images: [],
});

/** Returns the pod of a source with its newest status on this node, or that of its source; the same object while neither changes. */
export const podWithStatus = ({ wanted, statuses }: NodeState, uid: string): Pod | undefined => {
  const pod = wanted.pods.byUid.get(uid);
  const status = statuses.stored.get(uid)?.status;
  if (!pod || !status || status === pod.status) return pod;
  const made = withStatuses.get(pod);
  if (made?.status === status) return made;
  const next = { ...pod, status };
  withStatuses.set(pod, next);
  return next;
};

const withStatuses = new WeakMap<Pod, Pod>();
