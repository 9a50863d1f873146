import { isStaticPod, isTerminalPhase, type Pod, podSourceOf } from '../pod/pod.js';
import { mergeCauses, type PodUpdate } from './pod-update.js';
import { type ActiveUpdate, isTerminationRequested, type PodWorkerRecord } from './pod-worker-record.js';

/** Whether the worker of the pod works on its stop. */
export const isStopping = (record: PodWorkerRecord): boolean =>
  isTerminationRequested(record) && record.startedAt !== undefined && !record.finished;

/** Whether two static pods differ in their namespace alone, as far as a source can name them. */
export const isMove = (from: Pod | undefined, to: Pod | undefined): boolean =>
  from !== undefined &&
  to !== undefined &&
  isStaticPod(from) &&
  from.metadata.name === to.metadata.name &&
  from.metadata.namespace !== to.metadata.namespace &&
  podSourceOf(from) === podSourceOf(to);

/** The first match decides why the pod stops; later kills only shorten the grace period. */
export const requestTermination = (record: PodWorkerRecord, update: PodUpdate, now: number): PodWorkerRecord => {
  const terminating = { ...record, terminatingAt: now };
  if (!update.pod) return { ...terminating, deleted: true };
  if (update.pod.metadata.deletionTimestamp !== undefined) return { ...terminating, deleted: true };
  if (isTerminalPhase(update.pod.status?.phase)) return terminating;
  if (update.type === 'kill') return { ...terminating, evicted: update.kill?.evict === true };
  return record;
};

/** Repeats the last update if no newer one waits: the next phase works on the same pod. */
export const replayed = (record: PodWorkerRecord): PodWorkerRecord => {
  if (record.pending || !record.active) return record;
  return { ...record, pending: { ...record.active, type: 'sync' }, working: true };
};

/** Returns what the worker works on once it takes the update. */
export const mergeActive = (before: ActiveUpdate | undefined, update: PodUpdate): ActiveUpdate => ({
  pod: update.pod ?? before?.pod,
  runningPod: update.runningPod,
  mirrorPod: update.mirrorPod ?? before?.mirrorPod,
  kill: update.kill ? { evict: update.kill.evict, graceSeconds: update.kill.graceSeconds } : before?.kill,
  causes: mergeCauses(before?.causes ?? [], update.causes),
});
