import { retainPreemptions, withoutPreemption, withoutRoomWait, withRoomWait } from '../admission/preemptions.js';
import { withSource } from '../config/sources-ready.js';
import { startSeen } from '../pod/active-times.js';
import { allocatedOfPod, hasOtherPodAmounts } from '../pod/allocated-resources.js';
import { withAllocatedPod, withoutPod, withPod } from '../pod/wanted-pods.js';
import { pullEnded, restartBackedOff, withoutRestarts, withoutStale } from '../pod-actions/back-offs.js';
import { hookBegun, hookEnded, hooksFound, retainHooks } from '../pod-actions/due-hooks.js';
import { withStart } from '../pod-actions/instance-starts.js';
import { withStartEnded } from '../pod-actions/start-failures.js';
import {
  allocatedIn,
  amountsOfPod,
  amountsOnly,
  type PodResizes,
  restoredResizes,
  retainResizes,
  withActuated,
  withAllocation,
  withFailedResize,
  withoutPending,
  withPodActuated,
  withPodBehind,
  withPending,
  withSaved,
} from '../resize/pod-resizes.js';
import { retainStatuses, startedOver, withoutStatus, withStatus } from '../pod-status/pod-statuses.js';
import { withDue, withoutDue, withoutRun, withRun } from '../pod-workers/worker-activity.js';
import { withCadence, withRelist, withRuntimeStatus } from '../runtime-health/health-facts.js';
import { retainKeys, retainMembers } from '../values/retain.js';
import { updated } from '../values/updated.js';
import {
  withDesired,
  withEnding,
  withFailed,
  withMounted,
  withUnmounted,
  withUnmounting,
} from '../volumes/volume-states.js';
import type { NodeState } from './node-state.js';
import type { ChangeKind, ChangeOf, StateChange } from './state-change.js';

/** Returns the state after a change; the same one if the change says nothing new. */
export const reduce = (state: NodeState, change: StateChange): NodeState => {
  const reducer = reducers[change.kind] as (state: NodeState, change: StateChange) => Partial<NodeState>;
  return updated(state, reducer(state, change));
};

/** A pod that has what it asks for waits for nothing, also if its source has taken a resize back. */
const withoutUndone = (wanted: NodeState['wanted'], resizes: PodResizes, uid: string): PodResizes =>
  wanted.asked.has(uid) ? resizes : withoutPending(resizes, uid);

const reducers: { readonly [K in ChangeKind]: (state: NodeState, change: ChangeOf<K>) => Partial<NodeState> } = {
  'pod-set': ({ wanted: before, resizes }, { pod }) => {
    const { uid } = pod.metadata;
    const allocated = resizes.allocated.get(uid);
    const wanted = withPod(before, pod, allocated && allocatedIn(allocated));
    return { wanted, resizes: withoutUndone(wanted, resizes, uid) };
  },
  'pod-removed': ({ wanted }, { pod }) => ({ wanted: withoutPod(wanted, pod) }),
  'source-ready': ({ sources }, { source }) => ({ sources: withSource(sources, source) }),
  'pod-forgotten': ({ backOffs }, { uid }) => ({ backOffs: withoutRestarts(backOffs, uid) }),
  'admission-decided': ({ rejected }, { uid, isAdmitted }) => ({
    rejected: isAdmitted ? rejected.delete(uid) : rejected.add(uid),
  }),
  'room-awaited': ({ preemptions }, { uid, ...wait }) => ({ preemptions: withRoomWait(preemptions, uid, wait) }),
  'room-made': ({ preemptions }, { uid }) => ({ preemptions: withoutRoomWait(preemptions, uid) }),
  'resizes-restored': ({ resizes }, { allocated, actuated }) => ({
    resizes: restoredResizes(resizes, { allocated, actuated }),
  }),
  'allocation-found': ({ wanted, resizes }, { uid, amounts }) => ({
    wanted: withAllocatedPod(wanted, uid, allocatedIn(amounts)),
    resizes: withAllocation(resizes, uid, amounts),
  }),
  'resize-allocated': ({ wanted, resizes }, { uid }) => {
    const asked = wanted.asked.get(uid);
    if (!asked) return {};
    const amounts = amountsOfPod(asked);
    const before = wanted.pods.byUid.get(uid);
    const isPodResized = before !== undefined && hasOtherPodAmounts(asked, allocatedOfPod(before));
    return {
      wanted: withAllocatedPod(wanted, uid, allocatedIn(amounts)),
      resizes: withAllocation(
        isPodResized ? withPodBehind(resizes, uid, amountsOnly(before.spec.resources)) : resizes,
        uid,
        { ...amounts, generation: asked.metadata.generation },
      ),
    };
  },
  'resize-pending': ({ resizes }, { uid, pending }) => ({ resizes: withPending(resizes, uid, pending) }),
  'instance-resized': ({ resizes }, { uid, container, amounts }) => ({
    resizes: withActuated(resizes, uid, container, amounts),
  }),
  'pod-resized': ({ resizes }, { uid, amounts }) => ({ resizes: withPodActuated(resizes, uid, amounts) }),
  'resize-failed': ({ resizes }, { uid, error }) => ({ resizes: withFailedResize(resizes, uid, error) }),
  'resizes-saved': ({ resizes }, { allocated, actuated }) => ({ resizes: withSaved(resizes, { allocated, actuated }) }),
  'resizes-retained': ({ resizes }, { uids }) => ({ resizes: retainResizes(resizes, uids) }),
  status: ({ statuses }, { uid, status, isFinished }) => ({ statuses: withStatus(statuses, uid, status, isFinished) }),
  'status-forgotten': ({ statuses }, { uid }) => ({ statuses: withoutStatus(statuses, uid) }),
  'api-object-changed': () => ({}),
  'statuses-retained': ({ statuses, rejected, preemptions, dueHooks, starts, activeTimes }, { uids }) => ({
    statuses: retainStatuses(statuses, uids),
    rejected: retainMembers(rejected, uids),
    preemptions: retainPreemptions(preemptions, uids),
    dueHooks: retainHooks(dueHooks, uids),
    starts: retainKeys(starts, uids),
    activeTimes: retainKeys(activeTimes, uids),
  }),
  'pod-started-over': ({ statuses, rejected, preemptions }, { uid }) => ({
    statuses: startedOver(statuses, uid),
    rejected: rejected.delete(uid),
    preemptions: withoutPreemption(preemptions, uid),
  }),
  'due-hooks-found': ({ dueHooks }, { uid, containerIds }) => ({ dueHooks: hooksFound(dueHooks, uid, containerIds) }),
  'hook-begun': ({ dueHooks }, { uid, containerId }) => ({ dueHooks: hookBegun(dueHooks, uid, containerId) }),
  'hook-ended': ({ dueHooks }, { uid, containerId }) => ({ dueHooks: hookEnded(dueHooks, uid, containerId) }),
  'start-time-seen': ({ activeTimes }, { uid, startTime, ...moment }) => ({
    activeTimes: startSeen(activeTimes, uid, startTime, moment),
  }),
  'instance-started': ({ starts }, { uid, container, start }) => ({ starts: withStart(starts, uid, container, start) }),
  'start-ended': ({ startFailures }, { uid, container, failure }) => ({
    startFailures: withStartEnded(startFailures, uid, container, failure),
  }),
  'restart-backed-off': ({ backOffs }, { key, entry }) => ({ backOffs: restartBackedOff(backOffs, key, entry) }),
  'pull-ended': ({ backOffs }, { key, failed }) => ({ backOffs: pullEnded(backOffs, key, failed) }),
  'back-offs-expired': ({ backOffs }, { now }) => ({ backOffs: withoutStale(backOffs, now) }),
  'volumes-wanted': ({ volumes }, change) => ({ volumes: withDesired(volumes, change, true) }),
  'volumes-ending': ({ volumes }, { uid }) => ({ volumes: withEnding(volumes, uid) }),
  'volumes-unwanted': ({ volumes }, change) => ({ volumes: withDesired(volumes, change, false) }),
  'volume-mounted': ({ volumes }, name) => ({ volumes: withMounted(volumes, name) }),
  'volume-unmounting': ({ volumes }, name) => ({ volumes: withUnmounting(volumes, name) }),
  'volume-unmounted': ({ volumes }, name) => ({ volumes: withUnmounted(volumes, name) }),
  'volume-failed': ({ volumes }, { error, ...name }) => ({ volumes: withFailed(volumes, name, error) }),
  'run-started': ({ activity }, { uid, work, now }) => ({ activity: withRun(activity, uid, { work, since: now }) }),
  'run-ended': ({ activity }, { uid }) => ({ activity: withoutRun(activity, uid) }),
  'work-queued': ({ activity }, { uid, dueAt }) => ({ activity: withDue(activity, uid, dueAt) }),
  'work-taken': ({ activity }, { uids }) => ({ activity: withoutDue(activity, uids) }),
  'runtime-status': ({ runtime }, { status, now }) => ({ runtime: withRuntimeStatus(runtime, status, now) }),
  relisted: ({ runtime }, { at }) => ({ runtime: withRelist(runtime, at) }),
  'relist-cadence': ({ runtime }, { cadence }) => ({ runtime: withCadence(runtime, cadence) }),
  'health-checked': (_, { problem }) => ({ health: problem }),
  'shutdown-noticed': (_, { isShuttingDown }) => ({ isShuttingDown }),
  'pressure-observed': ({ pressure: before }, { pressure }) => ({ pressure: updated(before, pressure) }),
  'images-listed': (_, { images }) => ({ images }),
};
