import { retainPreemptions, withoutPreemption, withoutRoomWait, withRoomWait } from '../admission/preemptions.js';
import { withSource } from '../config/sources-ready.js';
import { startSeen } from '../pod/active-times.js';
import { withoutPod, withPod } from '../pod/wanted-pods.js';
import { pullEnded, restartBackedOff, withoutRestarts, withoutStale } from '../pod-actions/back-offs.js';
import { hookBegun, hookEnded, hooksFound, retainHooks } from '../pod-actions/due-hooks.js';
import { withStart } from '../pod-actions/instance-starts.js';
import { withStartEnded } from '../pod-actions/start-failures.js';
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

const reducers: { readonly [K in ChangeKind]: (state: NodeState, change: ChangeOf<K>) => Partial<NodeState> } = {
  'pod-set': ({ wanted }, { pod }) => ({ wanted: withPod(wanted, pod) }),
  'pod-removed': ({ wanted }, { pod }) => ({ wanted: withoutPod(wanted, pod) }),
  'source-ready': ({ sources }, { source }) => ({ sources: withSource(sources, source) }),
  'pod-forgotten': ({ backOffs }, { uid }) => ({ backOffs: withoutRestarts(backOffs, uid) }),
  'admission-decided': ({ rejected }, { uid, isAdmitted }) => ({
    rejected: isAdmitted ? rejected.delete(uid) : rejected.add(uid),
  }),
  'room-awaited': ({ preemptions }, { uid, ...wait }) => ({ preemptions: withRoomWait(preemptions, uid, wait) }),
  'room-made': ({ preemptions }, { uid }) => ({ preemptions: withoutRoomWait(preemptions, uid) }),
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
